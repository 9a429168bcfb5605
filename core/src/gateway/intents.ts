import type { Plugin } from '@cinnabar/sdk';
import type { GatewayIntentsString } from 'discord.js';

/** What prefix commands need to be heard. */
const FOR_PREFIX_COMMANDS: readonly GatewayIntentsString[] = ['GuildMessages', 'DirectMessages', 'MessageContent'];

/** The union of what the plugins ask for, sorted. `Guilds` is always needed: without it nothing knows where it is. */
export function unionOfIntents(plugins: Iterable<Plugin>, prefixCommands: boolean): readonly GatewayIntentsString[] {
  const union = new Set<GatewayIntentsString>(['Guilds']);
  if (prefixCommands) for (const intent of FOR_PREFIX_COMMANDS) union.add(intent);
  for (const plugin of plugins) for (const intent of plugin.manifest.intents ?? []) union.add(intent);
  return [...union].sort();
}
