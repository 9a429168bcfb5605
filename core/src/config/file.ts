import { readFileSync } from 'node:fs';
import { CinnabarError, type ConfigLayer, readYaml, z } from '@cinnabar/sdk';
import { type HostPart, hostPartSchema, ownPartSchema } from './host-part.js';
import type { HostKeys } from './layout.js';

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
