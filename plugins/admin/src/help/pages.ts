import type { CommandInfo, PluginInfo, ToolInfo } from '@cinnabar/sdk';
import { code, whoMay } from '../format.js';
import type { HelpIndex, Topic } from './topic.js';

/** How commands are written where help was asked for. */
export interface Manner {
  /** `!`, `/`, or a mention and a space. */
  readonly prefix: string;
}

export function topicPage(topic: Topic, index: HelpIndex, manner: Manner, page: number): string {
  switch (topic.kind) {
    case 'command':
      return commandPage(topic.command, manner);
    case 'group':
      return pageOf(
        `**${topic.name}**`,
        topic.commands.map((command) => commandLine(command, manner)),
        page,
        topic.name,
        manner,
      );
    case 'plugin':
      return pluginPage(topic.plugin, index, manner, page);
    case 'tool':
      return toolPage(topic.tool);
  }
}

/** Lines on a page: what a phone shows of one message. */
const PAGE_LINES = 15;

/** One page of many lines, with how to get to the next. */
export function pageOf(title: string, lines: readonly string[], page: number, topic: string, manner: Manner): string {
  const pages = Math.max(1, Math.ceil(lines.length / PAGE_LINES));
  const at = Math.min(Math.max(1, page), pages);
  const shown = lines.slice((at - 1) * PAGE_LINES, at * PAGE_LINES);
  const more =
    pages === 1
      ? []
      : [`Page ${at} of ${pages}${at < pages ? `; next: ${written(`help ${topic} ${at + 1}`, 'both', manner)}` : ''}`];
  return [title, ...shown, ...more].join('\n');
}

function pluginPage(
  { id, manifest }: PluginInfo,
  { commands, tools }: HelpIndex,
  manner: Manner,
  page: number,
): string {
  const lines = [
    ...commands.filter(({ plugin }) => plugin === id).map((command) => commandLine(command, manner)),
    ...tools.filter(({ plugin }) => plugin === id).map(toolLine),
  ];
  return pageOf(`**${id}**: ${manifest.description}`, lines, page, id, manner);
}

export function commandLine(command: CommandInfo, manner: Manner): string {
  return `${signature(command, manner)} ${command.description}`;
}

function commandPage(command: CommandInfo, manner: Manner): string {
  const { description, help, options, aliases, examples, access, surface } = command;
  const optionLines = options.map(
    (each) =>
      `• \`${each.name}\`: ${[each.type, each.required ? undefined : 'optional', each.description || undefined].filter((part) => part !== undefined).join('; ')}`,
  );
  return [
    `${signature(command, manner)} ${description}`,
    ...(help === undefined ? [] : [help]),
    ...(optionLines.length === 0 ? [] : ['Options:', ...optionLines]),
    ...(aliases.length === 0
      ? []
      : [`Also called: ${aliases.map((alias) => written(alias, surface, manner)).join(', ')}`]),
    ...(examples.length === 0
      ? []
      : [`Examples: ${examples.map((each) => written(each, surface, manner)).join(', ')}`]),
    `Who may use it: ${whoMay(access)}`,
  ].join('\n');
}

function signature({ name, usage, surface }: CommandInfo, manner: Manner): string {
  return written(`${name} ${usage}`.trim(), surface, manner);
}

export function written(command: string, surface: CommandInfo['surface'], { prefix }: Manner): string {
  const start = surface === 'slash' ? '/' : prefix;
  return command.startsWith(start) ? code(command) : code(start + command);
}

/** Tools are used by asking: an example says how. */
export function toolLine({ name, description, examples }: ToolInfo): string {
  const example = examples[0];
  return `${example === undefined ? 'Ask me' : `Say “${utterance(example)}”`}: ${description} (${code(name)})`;
}

function toolPage({ name, description, examples, risk, access }: ToolInfo): string {
  return [
    `**${name}**: ${description}`,
    ...(examples.length === 0
      ? []
      : ['Ask me, for example:', ...examples.slice(0, MAX_EXAMPLES).map((each) => `• ${utterance(each)}`)]),
    `Risk: ${risk}`,
    `Who may use it: ${whoMay(access)}`,
  ].join('\n');
}

const MAX_EXAMPLES = 5;

/** Slots as words of the member's own: `{loot_description}` as {loot description}. */
function utterance(example: string): string {
  return example.replace(/\{(\w+)\}/g, (slot) => slot.replaceAll('_', ' '));
}
