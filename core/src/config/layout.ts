import { readdirSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { isSnowflake } from './names.js';

/** The file that may have every key of the host. */
export const SHARED = 'shared.yaml';
export const GUILDS = 'guilds';
export const BOTS = 'bots';

/** Which of the host's keys a file may have: all, those that are a bot's own, or none. */
export type HostKeys = 'all' | 'own' | 'none';

/** @param name relative to the folder of the configuration */
export function hostKeysOf(name: string, botName: string | undefined): HostKeys {
  if (name === SHARED) return 'all';
  return botName !== undefined && name === join(BOTS, `${botName}.yaml`) ? 'own' : 'none';
}

/** The files that apply in a guild, the widest first, relative to the folder of the configuration. */
export function layerFiles(botName: string | undefined, guildId: string | null): readonly string[] {
  const guild = guildId !== null && isSnowflake(guildId) ? guildId : undefined;
  return [
    SHARED,
    ...(guild === undefined ? [] : [join(GUILDS, `${guild}.yaml`)]),
    ...(botName === undefined ? [] : [join(BOTS, `${botName}.yaml`)]),
    ...(botName === undefined || guild === undefined ? [] : [join(BOTS, `${botName}-${guild}.yaml`)]),
  ];
}

/** Every file that is there and may apply somewhere. */
export function presentFiles(dir: string, botName: string | undefined): readonly string[] {
  const guilds = namesIn(join(dir, GUILDS)).map((name) => /^(\d+)\.yaml$/.exec(name)?.[1]);
  const bots = namesIn(join(dir, BOTS)).map((name) =>
    botName !== undefined && name.startsWith(`${botName}-`) ? /-(\d+)\.yaml$/.exec(name)?.[1] : undefined,
  );
  const everywhere = [null, ...guilds, ...bots].filter((id) => id !== undefined);
  const possible = new Set(everywhere.flatMap((guildId) => layerFiles(botName, guildId)));
  const there = new Set([
    ...namesIn(dir),
    ...namesIn(join(dir, GUILDS)).map((name) => join(GUILDS, name)),
    ...namesIn(join(dir, BOTS)).map((name) => join(BOTS, name)),
  ]);
  return [...possible].filter((file) => there.has(file));
}

/** The bots that have a file of their own, for all guilds or for one. */
export function botsIn(dir: string): readonly string[] {
  const names = namesIn(join(dir, BOTS)).flatMap((file) => /^(.+?)(?:-\d{15,22})?\.yaml$/.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}

/** A path as people know it: from the folder that the bot was started in, where it lies below it. */
export function shownPath(root: string, path: string): string {
  const fromRoot = relative(root, path).replaceAll('\\', '/');
  return fromRoot.startsWith('..') || isAbsolute(fromRoot) ? path : fromRoot;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // A folder that is not there has no files.
    return [];
  }
}
