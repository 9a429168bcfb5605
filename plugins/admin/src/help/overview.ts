import type { PluginInfo } from '@cinnabar/sdk';
import { code } from '../format.js';
import { commandLine, type Manner, pageOf, toolLine, written } from './pages.js';
import { type HelpIndex, offersAnything } from './topic.js';

/** The first page: a line for each plugin that has something for the member here. */
export function overviewPage(index: HelpIndex, manner: Manner): string {
  const plugins = index.plugins
    .filter(({ id }) => offersAnything(id, index))
    .map((plugin) => pluginLine(plugin, index));
  const help = (rest: string) => written(`help ${rest}`, 'both', manner);
  const [first] = index.plugins.filter(({ id }) => offersAnything(id, index));
  return [
    '**What I can do for you here**',
    ...plugins,
    `More about one: ${help(first?.id ?? 'help')}. To search: ${help('<words>')}.`,
  ].join('\n');
}

function pluginLine({ id, manifest }: PluginInfo, { commands, tools }: HelpIndex): string {
  const names = [
    ...new Set(commands.filter(({ plugin }) => plugin === id).map(({ name }) => name.split(' ')[0] ?? name)),
  ];
  const asked = tools.some(({ plugin }) => plugin === id) ? ['ask me'] : [];
  return `• **${id}**: ${manifest.description} (${[...names.map(code), ...asked].join(', ')})`;
}

/** What has all of the words in its name or description; `undefined` when nothing has. */
export function searchPage(
  words: string,
  page: number,
  { commands, tools }: HelpIndex,
  manner: Manner,
): string | undefined {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text: string) => wanted.every((word) => text.toLowerCase().includes(word));
  const lines = [
    ...commands
      .filter(({ name, description, help }) => has(`${name} ${description} ${help ?? ''}`))
      .map((each) => commandLine(each, manner)),
    ...tools
      .filter(({ name, description, examples }) => has(`${name} ${description} ${examples[0] ?? ''}`))
      .map(toolLine),
  ];
  if (wanted.length === 0 || wanted.join('').length < 3 || lines.length === 0) return undefined;
  return pageOf(`**Found for ${code(words)}**`, lines, page, words, manner);
}
