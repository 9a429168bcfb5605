import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ForeignData, UserError } from '@cinnabar/sdk';

type Values = Readonly<Record<string, unknown>>;

/** Red's data of one cog, or of its core, by group (`GUILD`, `MEMBER`, `CASES` …). */
interface CogData {
  /** `Core`, or the cog's name. */
  readonly name: string;
  readonly groups: Values;
}

/** The data folder of an instance of Red-DiscordBot with its JSON driver. */
export interface RedData {
  readonly core: CogData;
  readonly cogs: readonly CogData[];
  /** Files that cannot be read, as sentences. */
  readonly problems: readonly string[];
}

/** @throws UserError when the folder is not Red's */
export function readRedData(dir: string): RedData {
  const coreFile = join(dir, 'core', 'settings.json');
  if (!existsSync(coreFile))
    throw new UserError(
      `${dir} does not look like the data folder of Red-DiscordBot: there is no core/settings.json. "redbot-setup" and "[p]datapath" show where it is; the storage has to be JSON.`,
    );
  const problems: string[] = [];
  const cogFolder = join(dir, 'cogs');
  const names = existsSync(cogFolder) ? readdirSync(cogFolder).sort() : [];
  const cogs = names.flatMap((name) => {
    const file = join(cogFolder, name, 'settings.json');
    return existsSync(file) ? [readCog(name, file, problems)] : [];
  });
  return { core: readCog('Core', coreFile, problems), cogs, problems };
}

function readCog(name: string, file: string, problems: string[]): CogData {
  try {
    const identifiers = recordOf(parseWithIds(readFileSync(file, 'utf8')));
    // One object for each cog that has had this name; their groups are merged.
    return { name, groups: Object.assign({}, ...Object.values(identifiers).map(recordOf)) };
  } catch (error) {
    problems.push(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    return { name, groups: {} };
  }
}

/** Parses JSON and keeps ids, which are too large for numbers, as text. */
export function parseWithIds(json: string): unknown {
  return JSON.parse(
    json.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, (token) => (token[0] === '"' ? token : `"${token}"`)),
  );
}

export function recordOf(value: unknown): Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}

/** Groups that Red's Config gives every cog. Other groups are defined by a cog, and are grouped by server when their first keys are ids. */
const COMMON = ['GLOBAL', 'GUILD', 'MEMBER', 'TEXTCHANNEL', 'CHANNEL', 'ROLE', 'USER'];

/** The guilds that the data mention. */
export function guildsIn({ core, cogs }: RedData): readonly string[] {
  const ids = [core, ...cogs].flatMap(({ groups }) =>
    Object.entries(groups).flatMap(([group, values]) => {
      const keys = Object.keys(recordOf(values));
      if (group === 'GUILD' || group === 'MEMBER' || group === 'CASES') return keys;
      // Rules and switches are stored by name, then by server.
      return ['COG', 'COMMAND', 'COG_DISABLE_SETTINGS'].includes(group)
        ? Object.values(recordOf(values)).flatMap((ofName) => Object.keys(recordOf(ofName)))
        : [];
    }),
  );
  return [...new Set(ids)].filter((id) => /^\d{15,22}$/.test(id)).sort();
}

/** A cog's data of one guild. @param isOfGuild whether a channel or role belongs to the guild */
export function dataOf(
  { groups }: CogData,
  guildId: string,
  isOfGuild: (id: string) => boolean,
): ForeignData | undefined {
  const guild = recordOf(groups.GUILD)[guildId];
  const members = recordOf(groups.MEMBER)[guildId];
  const channels = Object.entries({ ...recordOf(groups.TEXTCHANNEL), ...recordOf(groups.CHANNEL) }).filter(([id]) =>
    isOfGuild(id),
  );
  const custom = Object.entries(groups).flatMap(([group, values]) => {
    const ofGuild = COMMON.includes(group) ? undefined : recordOf(values)[guildId];
    return ofGuild === undefined ? [] : [[group, ofGuild] as const];
  });
  const data = {
    ...(guild === undefined ? {} : { guild: recordOf(guild) }),
    ...(members === undefined ? {} : { members: recordOf(members) }),
    ...(channels.length === 0 ? {} : { channels: Object.fromEntries(channels) }),
    ...(custom.length === 0 ? {} : { custom: Object.fromEntries(custom) }),
  };
  return Object.keys(data).length === 0 ? undefined : data;
}

/** The id under which Red keeps rules and switches for every server. */
export const EVERYWHERE = '0';

/** The keys of Red's core for the whole bot that become rules of the bot's owner. */
const OWNER_KEYS: readonly string[] = ['blacklist', 'whitelist', 'disabled_commands'];

/** Data of a cog that belong to no server and are not imported: its global settings, and its data about users and roles. */
export function outsideGuilds({ name, groups }: CogData): readonly string[] {
  return ['GLOBAL', 'USER', 'ROLE'].flatMap((group) => {
    const values = recordOf(groups[group]);
    const keys = Object.keys(values).filter(
      (key) => !(name === 'Core' && group === 'GLOBAL' && OWNER_KEYS.includes(key)),
    );
    if (keys.length === 0) return [];
    return group === 'GLOBAL'
      ? [`${name}: ${keys.join(', ')} (settings of the whole bot)`]
      : [`${name}: what it keeps of ${keys.length} ${group === 'USER' ? 'users' : 'roles'}`];
  });
}
