import type { CommandInfo, PluginInfo } from '@cinnabar/sdk';
import { commandLine, type Manner, toolLine, written } from './pages.js';
import { type HelpIndex, offersAnything } from './topic.js';

/** Of a longer group, and of more tools, the overview only says that they are there. */
const MOST_OF_GROUP = 8;
const MOST_TOOLS = 5;
const SHOWN_TOOLS = 3;

/** What there is, by plugin, short enough to be read. */
export function overviewPage(index: HelpIndex, manner: Manner): string {
  const sections = index.plugins
    .filter(({ id }) => offersAnything(id, index))
    .map((plugin) => section(plugin, index, manner));
  return [...sections, `More about one: ${written('help <command or plugin>', 'both', manner)}`].join('\n\n');
}

function section({ id, manifest }: PluginInfo, index: HelpIndex, manner: Manner): string {
  const commands = index.commands.filter(({ plugin }) => plugin === id);
  const tools = index.tools.filter(({ plugin }) => plugin === id);
  const shown = tools.length > MOST_TOOLS ? tools.slice(0, SHOWN_TOOLS) : tools;
  const more = tools.length - shown.length;
  return [
    `**${id}**: ${manifest.description}`,
    ...commandLines(commands, manner),
    ...shown.map(toolLine),
    ...(more === 0 ? [] : [`… and ${more} more: ${written(`help ${id}`, 'both', manner)}`]),
  ].join('\n');
}

function commandLines(commands: readonly CommandInfo[], manner: Manner): readonly string[] {
  const groups = groupBy(commands, ({ name }) => name.split(' ')[0] ?? name);
  return [...groups].flatMap(([group, inGroup]) => {
    if (inGroup.length <= MOST_OF_GROUP) return inGroup.map((command) => commandLine(command, manner));
    const names = inGroup.map(({ name }) => name.slice(group.length + 1)).filter((name) => name !== '');
    return [
      `${written(`${group} …`, 'both', manner)} ${names.join(', ')}: ${written(`help ${group}`, 'both', manner)}`,
    ];
  });
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    groups.set(keyOf(item), group);
    group.push(item);
  }
  return groups;
}
