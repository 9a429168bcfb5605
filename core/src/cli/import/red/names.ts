import type { AccessRule } from '@cinnabar/sdk';

type Target = AccessRule['target'];

/** Cogs of Red, and the plugins with the same features here. A rule about a cog becomes one about each of its plugins. */
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

/** Commands of Red, and the commands that do the same here. */
const COMMANDS: Readonly<Record<string, string>> = {
  alias: 'alias',
  allowlist: 'access global',
  announce: 'bot announce',
  backup: 'backup',
  ban: 'ban',
  blocklist: 'access global',
  case: 'case',
  casesfor: 'cases',
  cc: 'customcom',
  cleanup: 'purge',
  'cleanup messages': 'purge',
  cogs: 'plugin list',
  contact: 'bot contact',
  customcom: 'customcom',
  customcommand: 'customcom',
  diagnoseissues: 'diagnose',
  help: 'help',
  'ignore channel': 'ignore channel',
  'ignore server': 'ignore server',
  info: 'bot info',
  invite: 'bot invite',
  kick: 'kick',
  leave: 'bot leave',
  listcases: 'cases',
  load: 'plugin load',
  'localallowlist add': 'allowlist add',
  'localallowlist list': 'allowlist list',
  'localallowlist remove': 'allowlist remove',
  'localblocklist add': 'block add',
  'localblocklist list': 'block list',
  'localblocklist remove': 'block remove',
  mute: 'timeout',
  mydata: 'mydata',
  'mydata forgetme': 'mydata forget',
  'mydata getmydata': 'mydata export',
  'permissions canrun': 'access check',
  'permissions explain': 'access explain',
  ping: 'bot ping',
  reason: 'reason',
  reload: 'plugin reload',
  remindme: 'remind',
  restart: 'bot restart',
  selfrole: 'role',
  'selfrole add': 'role get',
  'selfrole list': 'role list',
  'selfrole remove': 'role drop',
  servers: 'bot servers',
  'set bot nickname': 'bot nick',
  'set locale': 'language server',
  'set nickname': 'bot nick',
  shutdown: 'bot shutdown',
  slowmode: 'slowmode',
  softban: 'softban',
  tempban: 'tempban',
  timeout: 'timeout',
  traceback: 'audit',
  unban: 'unban',
  unload: 'plugin unload',
  unmute: 'untimeout',
  uptime: 'bot uptime',
  warn: 'warn',
  warnings: 'warnings',
};

export const pluginsFor = (cog: string): readonly string[] => (Object.hasOwn(PLUGINS, cog) ? (PLUGINS[cog] ?? []) : []);

/** The targets here for a rule about a cog. */
export const targetsForCog = (cog: string): readonly Target[] =>
  pluginsFor(cog).map((name) => ({ kind: 'plugin', name }));

const MOST_WORDS = 3;

/**
 * Translates a line that begins with a command of Red: replaces the longest name that matches, and keeps the rest. `undefined` when it begins with no known
 * command.
 * @example lineHere('cleanup messages {0}') // 'purge {0}'
 */
export function lineHere(line: string): string | undefined {
  const words = line.trim().split(/\s+/);
  for (let count = Math.min(MOST_WORDS, words.length); count > 0; count -= 1) {
    const name = words.slice(0, count).join(' ').toLowerCase();
    if (Object.hasOwn(COMMANDS, name)) return [COMMANDS[name], ...words.slice(count)].join(' ');
  }
  return undefined;
}

/** Every command here that is listed as the counterpart of one of Red's. */
export const commandsHere = (): readonly string[] => [...new Set(Object.values(COMMANDS))];

/** The targets here for a rule about a command; `undefined` when there is no counterpart. */
export function targetForCommand(command: string): Target | undefined {
  const name = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  return name === undefined ? undefined : { kind: 'command', name };
}
