import { readFileSync } from 'node:fs';
import { CinnabarError, type ConfigLayer, readYaml } from '@cinnabar/sdk';
import { type HostPart, hostPartSchema } from './host-part.js';

/** One file of the configuration. */
export interface ConfigFile {
  /** Empty but for `shared.yaml`. */
  readonly host: HostPart;
  readonly layer: ConfigLayer;
}

export interface ConfigSource {
  readonly path: string;
  /** The path as people know it. */
  readonly source: string;
  /** Whether it is `shared.yaml`, which alone may hold the host's own keys. */
  readonly shared: boolean;
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
export function parseConfigFile({ source, shared }: ConfigSource, text: string): ConfigFile {
  const fail = (line: number, detail: string) =>
    new CinnabarError('CINNABAR_CONFIG_INVALID', { detail: `${source}:${line}: ${detail}` });
  const reading = readYaml(text);
  if (!reading.ok) throw fail(reading.line, reading.problem);

  const hostKeys = Object.keys(hostPartSchema.shape);
  const own = Object.entries(reading.values).filter(([key]) => hostKeys.includes(key));
  const others = Object.entries(reading.values).filter(([key]) => !hostKeys.includes(key));
  const [misplaced] = shared ? [] : own;
  if (misplaced !== undefined) throw fail(reading.lineOf([misplaced[0]]), `${misplaced[0]}: belongs in shared.yaml`);
  const layer = { source, values: Object.fromEntries(others), lineOf: reading.lineOf };

  // An empty key, as `settings:` is when all below it are comments, is one that is not there.
  const parsed = hostPartSchema.safeParse(Object.fromEntries(own.filter(([, value]) => value !== null)));
  if (parsed.success) return { host: parsed.data, layer };
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const key = [...(issue?.path ?? []), ...unknown].map(String);
  const detail = unknown.length > 0 ? 'there is no such key' : (issue?.message ?? 'not valid');
  throw fail(reading.lineOf(key), `${key.join('.')}: ${detail}`);
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
