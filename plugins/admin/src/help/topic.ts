import type { CommandInfo, PluginInfo, ToolInfo } from '@cinnabar/sdk';

/** All that help can tell one member in one place. */
export interface HelpIndex {
  readonly commands: readonly CommandInfo[];
  readonly tools: readonly ToolInfo[];
  readonly plugins: readonly PluginInfo[];
}

export type Topic =
  | { readonly kind: 'command'; readonly command: CommandInfo }
  | { readonly kind: 'group'; readonly name: string; readonly commands: readonly CommandInfo[] }
  | { readonly kind: 'plugin'; readonly plugin: PluginInfo }
  | { readonly kind: 'tool'; readonly tool: ToolInfo };

/** What a member means by `!help …`: a command or its alias, a group, a plugin, a tool. */
export function findTopic(words: string, { commands, tools, plugins }: HelpIndex): Topic | undefined {
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

export function offersAnything(id: string, { commands, tools }: Pick<HelpIndex, 'commands' | 'tools'>): boolean {
  return commands.some(({ plugin }) => plugin === id) || tools.some(({ plugin }) => plugin === id);
}

/** Everything that can be asked about, in the form in which names are compared: commands, their groups, plugins, tools. */
export function topicsOf(index: HelpIndex): readonly CommandInfo[] {
  const { commands, tools, plugins } = index;
  const groups = commands.map(({ name }) => name.split(' ')[0] ?? name);
  const ids = plugins.map(({ id }) => id).filter((id) => offersAnything(id, index));
  const names = new Set([...groups, ...ids, ...tools.map(({ name }) => name)]);
  const [any] = commands;
  const others = any === undefined ? [] : [...names].map((name) => ({ ...any, name }));
  return [...commands.filter(({ name }) => !names.has(name)), ...others];
}
