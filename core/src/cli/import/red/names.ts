import type { AccessRule } from '@cinnabar/sdk';

type Target = AccessRule['target'];

/** Cogs of Red, and the plugins that do the same here. Several: a rule about the cog is one about each. */
const PLUGINS: Readonly<Record<string, readonly string[]>> = {
  Admin: ['roles'],
  Alias: ['custom'],
  Cleanup: ['moderation'],
  CustomCommands: ['custom'],
  Filter: ['automod'],
  Mod: ['moderation'],
  ModLog: ['moderation'],
  Mutes: ['moderation'],
  Reminders: ['reminders'],
  RemindMe: ['reminders'],
  Warnings: ['moderation'],
  Welcome: ['welcome'],
};

/** Commands of Red by the commands that do the same here. */
const COMMANDS: Readonly<Record<string, string>> = {
  alias: 'alias',
  ban: 'ban',
  case: 'case',
  casesfor: 'cases',
  cleanup: 'purge',
  contact: 'bot contact',
  customcom: 'custom',
  customcommand: 'custom',
  help: 'help',
  info: 'bot info',
  invite: 'bot invite',
  kick: 'kick',
  listcases: 'cases',
  mute: 'timeout',
  mydata: 'mydata',
  ping: 'bot ping',
  reason: 'reason',
  selfrole: 'role',
  slowmode: 'slowmode',
  softban: 'softban',
  tempban: 'tempban',
  timeout: 'timeout',
  unban: 'unban',
  unmute: 'untimeout',
  uptime: 'bot uptime',
  warn: 'warn',
  warnings: 'warnings',
};

export const pluginsFor = (cog: string): readonly string[] => (Object.hasOwn(PLUGINS, cog) ? (PLUGINS[cog] ?? []) : []);

/** What a rule about a cog is about here. */
export const targetsForCog = (cog: string): readonly Target[] =>
  pluginsFor(cog).map((name) => ({ kind: 'plugin', name }));

/** What a rule about a command is about here; `undefined` when nothing does the same. */
export function targetForCommand(command: string): Target | undefined {
  const name = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  return name === undefined ? undefined : { kind: 'command', name };
}
