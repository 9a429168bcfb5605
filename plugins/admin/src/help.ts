import {
  type CommandContext,
  type CommandInfo,
  currentLocale,
  option,
  type PluginInfo,
  TIERS,
  type ToolInfo,
  t,
  translated,
} from '@cinnabar/sdk';
import { stoppedPluginOf } from './access-commands.js';
import type { AdminContext } from './context.js';
import { code, readablePrefix, riskWord, stateWord, whoMay } from './format.js';

/** `!help`: generated from the declarations of the plugins, with only the commands and tools that the member may use in that place. */
export function registerHelp({ command, services }: AdminContext): void {
  command({
    name: 'help',
    description: 'Show what I can do for you here',
    options: { topic: option.rest().optional().describe('A command, plugin or tool, or words to look for') },
    ephemeral: true,
    examples: ['help', 'help plugin reload', 'help prefix'],
    async run(ctx, { topic }) {
      const index = await indexFor(services, ctx);
      const style = { prefix: readablePrefix(ctx) };
      if (topic === undefined) return ctx.reply(overviewPage(index, style));
      const asked = withoutPrefix(topic.trim(), ctx.prefix);
      const [, words = asked, number = '1'] = /^(.*\S)\s+(\d{1,3})$/.exec(asked) ?? [];
      const found = findTopic(words, index);
      const page = Number(number);
      if (found !== undefined) return ctx.reply(topicPage(found, index, style, page));
      return ctx.reply(searchPage(words, page, index, style) ?? unknown(words, index, ctx, services));
    },
  });
}

async function indexFor(
  { access, commands, plugins, tools }: AdminContext['services'],
  { actor }: CommandContext,
): Promise<HelpIndex> {
  const [visible, offered, tier] = await Promise.all([
    commands.visibleTo(actor),
    tools.offered(actor),
    access.tierOf(actor),
  ]);
  const index = { commands: visible, tools: offered, plugins: plugins.list(), notSetUp: [] };
  const there = index.plugins.filter(({ id, state }) => state === 'running' && offersAnything(id, index));
  const needs = await Promise.all(there.map(({ id }) => plugins.setupNeed(actor.guildId, id)));
  const notSetUp = there.flatMap(({ id }, at) => (needs[at] === undefined ? [] : [id]));
  if (TIERS.indexOf(tier) >= TIERS.indexOf('admin')) return { ...index, notSetUp };
  const works = ({ plugin }: { readonly plugin: string }) => !notSetUp.includes(plugin);
  return { ...index, commands: visible.filter(works), tools: offered.filter(works) };
}

/** The answer when the words match nothing that the member can use: the reasons of the denial when a command has that name, otherwise a suggestion. */
function unknown(
  words: string,
  index: HelpIndex,
  ctx: CommandContext,
  { commands, plugins }: AdminContext['services'],
): string {
  const name = words.toLowerCase();
  const none = t('There is no command, plugin or tool called {words} that you can use here.', { words: code(words) });
  if (commands.names(ctx.actor.guildId ?? undefined).includes(name)) {
    const diagnose = written(`diagnose me ${name}`, 'both', { prefix: readablePrefix(ctx) });
    return `${none} ${t('{diagnose} says why.', { diagnose })}`;
  }
  const similar = commands.similar(words, topicsOf(index));
  const stopped = stoppedPluginOf({ commands, plugins }, name);
  if (stopped !== undefined && similar.length === 0) {
    const { plugin, isCertain } = stopped;
    const values = { plugin: plugin.id, state: stateWord(plugin.state) };
    const why = isCertain
      ? t('The plugin "{plugin}", which has it, is {state}.', values)
      : t('The plugin "{plugin}", which may have it, is {state}.', values);
    return `${none} ${why}`;
  }
  if (similar.length === 0) return none;
  const list = new Intl.ListFormat(currentLocale(), { type: 'disjunction' });
  return `${none} ${t('Did you mean {similar}?', { similar: list.format(similar.slice(0, 3).map(code)) })}`;
}

function withoutPrefix(words: string, prefix: string): string {
  return words.startsWith(prefix) ? words.slice(prefix.length) : words;
}

/** All topics of help for one member in one place. */
interface HelpIndex {
  readonly commands: readonly CommandInfo[];
  readonly tools: readonly ToolInfo[];
  readonly plugins: readonly PluginInfo[];
  /** Ids of plugins that an admin has to configure here before they work. They are not shown to members. */
  readonly notSetUp: readonly string[];
}

type Topic =
  | { readonly kind: 'command'; readonly command: CommandInfo }
  | { readonly kind: 'group'; readonly name: string; readonly commands: readonly CommandInfo[] }
  | { readonly kind: 'plugin'; readonly plugin: PluginInfo }
  | { readonly kind: 'tool'; readonly tool: ToolInfo };

/** The target of `!help …`: a command or its alias, a group, a plugin, a tool. */
function findTopic(words: string, { commands, tools, plugins }: HelpIndex): Topic | undefined {
  const name = words.toLowerCase();
  const command = commands.find((each) => each.name === name) ?? commands.find(({ aliases }) => aliases.includes(name));
  if (command !== undefined) return { kind: 'command', command };
  const inGroup = commands.filter((each) => each.name.startsWith(`${name} `));
  if (inGroup.length > 0) return { kind: 'group', name, commands: inGroup };
  const plugin = plugins.find(({ id }) => id === name);
  if (plugin !== undefined && offersAnything(plugin.id, { commands, tools })) return { kind: 'plugin', plugin };
  const tool = tools.find((each) => each.name === name);
  return tool === undefined ? undefined : { kind: 'tool', tool };
}

function offersAnything(id: string, { commands, tools }: Pick<HelpIndex, 'commands' | 'tools'>): boolean {
  return commands.some(({ plugin }) => plugin === id) || tools.some(({ plugin }) => plugin === id);
}

/** The names of everything that has help: commands, their groups, plugins, tools. */
function topicsOf(index: HelpIndex): readonly CommandInfo[] {
  const { commands, tools, plugins } = index;
  const groups = commands.map(({ name }) => name.split(' ')[0] ?? name);
  const ids = plugins.map(({ id }) => id).filter((id) => offersAnything(id, index));
  const names = new Set([...groups, ...ids, ...tools.map(({ name }) => name)]);
  const [any] = commands;
  const others = any === undefined ? [] : [...names].map((name) => ({ ...any, name }));
  return [...commands.filter(({ name }) => !names.has(name)), ...others];
}

/** The first page: a line for each plugin with commands or tools for the member here. */
function overviewPage(index: HelpIndex, style: Style): string {
  const shown = index.plugins.filter(({ id }) => offersAnything(id, index) && !index.notSetUp.includes(id));
  const plugins = shown.map((plugin) => pluginLine(plugin, index));
  const missing = index.notSetUp.map((id) => `${id} (${written(`plugin info ${id}`, 'both', style)})`);
  const help = (rest: string) => written(`help ${rest}`, 'both', style);
  const [first] = shown;
  return [
    t('**What I can do for you here**'),
    ...plugins,
    ...(missing.length === 0 ? [] : [t('Not set up: {plugins}.', { plugins: missing.join(', ') })]),
    t('More about one: {example}. To search: {search}.', {
      example: help(first?.id ?? 'help'),
      search: help(t('<words>')),
    }),
  ].join('\n');
}

function pluginLine({ id, manifest }: PluginInfo, { commands, tools }: HelpIndex): string {
  const names = [
    ...new Set(commands.filter(({ plugin }) => plugin === id).map(({ name }) => name.split(' ')[0] ?? name)),
  ];
  const asked = tools.some(({ plugin }) => plugin === id) ? [t('ask me')] : [];
  return `• **${id}**: ${translated(manifest.description)} (${[...names.map(code), ...asked].join(', ')})`;
}

/** The plugins, commands and tools that contain all of the words in their name or description; `undefined` when there are none. */
function searchPage(words: string, page: number, index: HelpIndex, style: Style): string | undefined {
  const { commands, tools, plugins } = index;
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text: string) => wanted.every((word) => text.toLowerCase().includes(word));
  const lines = [
    ...plugins
      .filter(({ id, manifest }) => offersAnything(id, index) && has(`${id} ${bothOf(manifest.description)}`))
      .map((plugin) => pluginLine(plugin, index)),
    ...commands
      .filter(({ name, description, help }) => has(`${name} ${bothOf(description)} ${bothOf(help ?? '')}`))
      .map((each) => commandLine(each, style)),
    ...tools
      .filter(({ name, description, examples }) => has(`${name} ${bothOf(description)} ${examples[0] ?? ''}`))
      .map(toolLine),
  ];
  if (wanted.length === 0 || wanted.join('').length < 3 || lines.length === 0) return undefined;
  return pageOf(t('**Found for {words}**', { words: code(words) }), lines, page, words, style);
}

/** A description in English and in the member's language, so that a search finds words of either. */
const bothOf = (description: string) => `${description} ${translated(description)}`;

/** The style of commands in the channel of the request. */
interface Style {
  /** `!`, `/`, or a mention and a space. */
  readonly prefix: string;
}

function topicPage(topic: Topic, index: HelpIndex, style: Style, page: number): string {
  switch (topic.kind) {
    case 'command':
      return commandPage(topic.command, style);
    case 'group':
      return pageOf(
        `**${topic.name}**`,
        topic.commands.map((command) => commandLine(command, style)),
        page,
        topic.name,
        style,
      );
    case 'plugin':
      return pluginPage(topic.plugin, index, style, page);
    case 'tool':
      return toolPage(topic.tool);
  }
}

/** Lines on a page, so that a phone shows a whole message. */
const PAGE_LINES = 15;

/** One page of many lines, with a link to the next. */
function pageOf(title: string, lines: readonly string[], page: number, topic: string, style: Style): string {
  const pages = Math.max(1, Math.ceil(lines.length / PAGE_LINES));
  const at = Math.min(Math.max(1, page), pages);
  const shown = lines.slice((at - 1) * PAGE_LINES, at * PAGE_LINES);
  const more =
    pages === 1
      ? []
      : [
          at < pages
            ? t('Page {page} of {pages}; next: {next}', {
                page: at,
                pages,
                next: written(`help ${topic} ${at + 1}`, 'both', style),
              })
            : t('Page {page} of {pages}', { page: at, pages }),
        ];
  return [title, ...shown, ...more].join('\n');
}

function pluginPage({ id, manifest }: PluginInfo, { commands, tools }: HelpIndex, style: Style, page: number): string {
  const lines = [
    ...commands.filter(({ plugin }) => plugin === id).map((command) => commandLine(command, style)),
    ...tools.filter(({ plugin }) => plugin === id).map(toolLine),
  ];
  return pageOf(`**${id}**: ${translated(manifest.description)}`, lines, page, id, style);
}

function commandLine(command: CommandInfo, style: Style): string {
  return `${signature(command, style)} ${translated(command.description)}`;
}

function commandPage(command: CommandInfo, style: Style): string {
  const { description, help, options, aliases, examples, access, surface } = command;
  const optionLines = options.map(
    (each) =>
      `• \`${each.name}\`: ${[each.type, each.required ? '' : t('optional'), translated(each.description)].filter((part) => part !== '').join('; ')}`,
  );
  return [
    `${signature(command, style)} ${translated(description)}`,
    ...(help === undefined ? [] : [translated(help)]),
    ...(optionLines.length === 0 ? [] : [t('Options:'), ...optionLines]),
    ...(aliases.length === 0
      ? []
      : [t('Also called: {names}', { names: aliases.map((alias) => written(alias, surface, style)).join(', ') })]),
    ...(examples.length === 0
      ? []
      : [t('Examples: {examples}', { examples: examples.map((each) => written(each, surface, style)).join(', ') })]),
    t('Who may use it: {who}', { who: whoMay(access) }),
  ].join('\n');
}

function signature({ name, usage, surface }: CommandInfo, style: Style): string {
  return written(`${name} ${usage}`.trim(), surface, style);
}

function written(command: string, surface: CommandInfo['surface'], { prefix }: Style): string {
  const start = surface === 'slash' ? '/' : prefix;
  return command.startsWith(start) ? code(command) : code(start + command);
}

/** A tool with an example, since tools are used by asking. */
function toolLine({ name, description, examples }: ToolInfo): string {
  const example = examples[0];
  const how = example === undefined ? t('Ask me') : t('Say “{example}”', { example: utterance(example) });
  return `${how}: ${translated(description)} (${code(name)})`;
}

function toolPage({ name, description, examples, risk, access }: ToolInfo): string {
  return [
    `**${name}**: ${translated(description)}`,
    ...(examples.length === 0
      ? []
      : [t('Ask me, for example:'), ...examples.slice(0, MAX_EXAMPLES).map((each) => `• ${utterance(each)}`)]),
    t('Risk: {risk}', { risk: riskWord(risk) }),
    t('Who may use it: {who}', { who: whoMay(access) }),
  ].join('\n');
}

const MAX_EXAMPLES = 5;

/** An example with its slots as words: `{loot_description}` becomes {loot description}. */
function utterance(example: string): string {
  return example.replace(/\{(\w+)\}/g, (slot) => slot.replaceAll('_', ' '));
}
