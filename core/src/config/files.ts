import { readdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { CinnabarError, type ConfigLayer, readYaml, z } from '@cinnabar/sdk';
import { type HostPart, hostPartSchema, isSnowflake, ownPartSchema } from './host-config.js';

/** One file of the configuration. */
export interface ConfigFile {
  /** Empty but for `shared.yaml` and the bot's own file. */
  readonly host: HostPart;
  readonly layer: ConfigLayer;
}

export interface ConfigSource {
  readonly path: string;
  /** The path as people know it. */
  readonly source: string;
  readonly hostKeys: HostKeys;
}

/**
 * Reads one YAML file of the configuration.
 * @returns `undefined` when it is missing
 * @throws CinnabarError CINNABAR_CONFIG_INVALID with file, line, key and what would be right
 */
export function readConfigFile(source: ConfigSource): ConfigFile | undefined {
  const text = readIfThere(source);
  return text === undefined ? undefined : parseConfigFile(source, text);
}

/** @throws CinnabarError CINNABAR_CONFIG_INVALID with file, line, key and what would be right */
export function parseConfigFile({ source, hostKeys: allowed }: ConfigSource, text: string): ConfigFile {
  const fail = (line: number, detail: string) =>
    new CinnabarError('CINNABAR_CONFIG_INVALID', { detail: `${source}:${line}: ${detail}` });
  const reading = readYaml(text);
  if (!reading.ok) throw fail(reading.line, reading.problem);

  const hostKeys = Object.keys(hostPartSchema.shape);
  const own = Object.entries(reading.values).filter(([key]) => hostKeys.includes(key));
  const others = Object.entries(reading.values).filter(([key]) => !hostKeys.includes(key));
  const layer = { source, values: Object.fromEntries(others), lineOf: reading.lineOf };

  // An empty key, as `settings:` is when all below it are comments, is one that is not there.
  const given = Object.fromEntries(own.filter(([, value]) => value !== null));
  const parsed = PART_SCHEMAS[allowed].safeParse(given);
  if (parsed.success) return { host: parsed.data, layer };
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const key = [...(issue?.path ?? []), ...unknown].map(String);
  const detail = unknown.length > 0 ? misplacement(key, given, allowed) : (issue?.message ?? 'not valid');
  throw fail(reading.lineOf(key), `${key.join('.')}: ${detail}`);
}

const PART_SCHEMAS = { all: hostPartSchema, own: ownPartSchema, none: z.strictObject({}) } as const;

/** What is wrong with a key that a file may not have. */
function misplacement(key: readonly string[], given: Readonly<Record<string, unknown>>, allowed: HostKeys): string {
  const anywhere = hostPartSchema.safeParse(given).error?.issues ?? [];
  const isUnknown = anywhere.some(
    (issue) =>
      issue.code === 'unrecognized_keys' && issue.keys.some((one) => key.join() === [...issue.path, one].join()),
  );
  if (isUnknown) return 'there is no such key';
  if (allowed === 'none') return 'belongs in shared.yaml';
  return "belongs in shared.yaml: of the host, a bot's own file sets prefixes, owners, logLevel, plugins.disabled and monitoring";
}

function readIfThere({ path, source }: ConfigSource): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw unreadable(source, error);
  }
}

/** @returns CINNABAR_CONFIG_INVALID for a file that is there but cannot be read */
export function unreadable(source: string, error: unknown): CinnabarError {
  const detail = `${source} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  return new CinnabarError('CINNABAR_CONFIG_INVALID', { detail }, { cause: error });
}

/** The file that may have every key of the host. */
const SHARED = 'shared.yaml';
export const GUILDS = 'guilds';
export const BOTS = 'bots';

/** Which of the host's keys a file may have: all, those that are a bot's own, or none. */
type HostKeys = 'all' | 'own' | 'none';

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
