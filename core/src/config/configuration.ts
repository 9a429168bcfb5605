import { readdirSync, statSync, watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  CinnabarError,
  type Clock,
  type ConfigLayer,
  type Configuration,
  type Logger,
  operatorSentenceOf,
  speaking,
  z,
} from '@cinnabar/sdk';
import { nearest } from '../storage/nearest.js';
import { type ConfigFile, type ConfigSource, parseConfigFile, unreadable } from './host-config.js';

/** An editor may write in several steps. */
const DEBOUNCE_MS = 100;

export interface ConfigurationService extends Configuration {
  /** Registers the keys of a plugin's schema, whose values `start` checks. */
  declare(schema: z.ZodObject): () => void;
  /**
   * Checks every file that may apply somewhere, watches the folder from then on, and logs keys that no plugin has registered.
   * @throws CinnabarError CINNABAR_CONFIG_INVALID with file, line and key of each invalid value
   */
  start(): Promise<void>;
  stop(): void;
}

interface ConfigurationOptions {
  /** The folder of the configuration. */
  readonly dir: string;
  /** The working directory at the start of the bot, for showing paths. */
  readonly root: string;
  readonly botName: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with a sentence for every edit that cannot be used. Must not throw. */
  readonly onProblem?: (sentence: string) => void;
  readonly watch?: WatchFolder;
}

/** Builds the plugins' view of the configuration files. */
export function createConfiguration(options: ConfigurationOptions): ConfigurationService {
  const { dir, root, botName, clock, log, onProblem = () => undefined, watch = watchFolder } = options;
  const claims = createClaims();
  const listeners = new Set<(source: string) => void>();
  const files = new Map<string, LiveFile>();
  const watched = new Map<string, { readonly ino: number; readonly stop: () => void }>();
  let started = false;
  let cancelRefresh: (() => void) | undefined;

  const tellUnclaimed = ({ layer }: ConfigFile) => {
    for (const sentence of claims.unclaimed(layer)) log.warn(sentence);
  };

  const changed = (source: string, file: ConfigFile | undefined) => {
    log.info(`${source} was ${file === undefined ? 'removed' : 'read anew'}`);
    for (const listener of listeners) {
      try {
        listener(source);
      } catch (error) {
        log.error('a listener for changes of the configuration failed', { source, error });
      }
    }
    if (started && file !== undefined) tellUnclaimed(file);
  };

  const fileAt = (name: string): LiveFile => {
    const known = files.get(name);
    if (known !== undefined) return known;
    const path = join(dir, name);
    const source = { path, source: shownPath(root, path), hostKeys: hostKeysOf(name, botName) };
    const live = createLiveFile(source, {
      onChange(file, before) {
        if (!isDeepStrictEqual(file?.host ?? {}, before?.host ?? {}))
          log.warn(`${source.source}: what is below host and settings takes effect at the next start`);
        changed(source.source, file);
      },
      onProblem(sentence) {
        log.error(`${sentence} The last good content stays in force.`);
        onProblem(sentence);
      },
    });
    files.set(name, live);
    return live;
  };

  const refresh = async () => {
    watchAll();
    const names = new Set([...files.keys(), ...presentFiles(dir, botName)]);
    return Promise.all([...names].map((name) => fileAt(name).current()));
  };

  const soon = () => {
    cancelRefresh ??= clock.after(DEBOUNCE_MS, () => {
      cancelRefresh = undefined;
      if (started) void refresh();
    });
  };

  /** Called again after every change: a folder that was deleted and created again is a different one. */
  const watchAll = () => {
    for (const folder of [dir, join(dir, GUILDS), join(dir, BOTS)]) {
      const ino = statSync(folder, { throwIfNoEntry: false })?.ino;
      const before = watched.get(folder);
      if (before?.ino === ino) continue;
      before?.stop();
      watched.delete(folder);
      const stop = ino === undefined ? undefined : watch(folder, soon);
      if (ino !== undefined && stop !== undefined) watched.set(folder, { ino, stop });
    }
  };

  return {
    botName,
    async layers(guildId) {
      const present = await Promise.all(layerFiles(botName, guildId).map((name) => fileAt(name).current()));
      return present.filter((file) => file !== undefined).map(({ layer }) => layer);
    },
    claim(keys) {
      const release = claims.claim(keys);
      return async () => release();
    },
    declare: claims.declare,
    onChange(listener) {
      const own = (source: string) => listener(source);
      listeners.add(own);
      return async () => void listeners.delete(own);
    },
    async start() {
      const present = (await refresh()).filter((file) => file !== undefined);
      const mistakes = present.flatMap(({ layer }) => claims.mistakes(layer));
      if (mistakes.length > 0) throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail: mistakes.join('\n') });
      started = true;
      for (const file of present) tellUnclaimed(file);
    },
    stop() {
      started = false;
      cancelRefresh?.();
      cancelRefresh = undefined;
      for (const { stop } of watched.values()) stop();
      watched.clear();
    },
  };
}

/** The readers of the top-level keys; a key may have several. */
function createClaims() {
  const claims = new Set<readonly string[]>();
  const schemas = new Set<z.ZodObject>();
  const told = new Set<string>();
  /** Returns a function that removes the registration; calling it again has no effect. */
  const claim = (keys: readonly string[]) => {
    const own = [...keys];
    claims.add(own);
    return () => void claims.delete(own);
  };
  return {
    claim,
    /** Registers the keys of a schema, whose values are checked at a start. */
    declare(schema: z.ZodObject): () => void {
      const release = claim(Object.keys(schema.shape));
      schemas.add(schema);
      return () => {
        release();
        schemas.delete(schema);
      };
    },
    /** A sentence for each value of the layer that its schema refuses, with file, line and key. */
    mistakes: (layer: ConfigLayer): readonly string[] => [
      ...new Set([...schemas].flatMap((schema) => mistakesBy(schema, layer))),
    ],
    /** A sentence for each key of the layer that no plugin reads, and that was not reported before. */
    unclaimed({ source, values, lineOf }: ConfigLayer): readonly string[] {
      const known = [...new Set([...claims].flat())];
      const fresh = Object.keys(values).filter((key) => !known.includes(key) && !told.has(`${source} ${key}`));
      for (const key of fresh) told.add(`${source} ${key}`);
      return fresh.map((key) => {
        const meant = nearest(withoutUnderscores(key), known);
        const hint = meant === undefined ? 'Is its plugin loaded?' : `Did you mean "${meant}"?`;
        return `${source}:${lineOf([key])}: no plugin reads the key "${key}". ${hint}`;
      });
    },
  };
}

function mistakesBy(schema: z.ZodObject, { source, values, lineOf }: ConfigLayer): readonly string[] {
  return Object.entries(schema.shape).flatMap(([key, field]) => {
    const value = withoutEmpty(values[key]);
    if (value === undefined) return [];
    const [issue] = z.safeParse(field, value).error?.issues ?? [];
    if (issue === undefined) return [];
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    const path = [key, ...issue.path, ...unknown].map((part) => (typeof part === 'number' ? part : String(part)));
    return [`${source}:${lineOf(path)}: ${path.join('.')}: ${issue.message}`];
  });
}

/** An empty key, at any depth, resets the value of wider files to the default. */
function withoutEmpty(value: unknown): unknown {
  if (value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, withoutEmpty(inner)]])),
  );
}

/** Other programs of this kind write `recency_window`. */
function withoutUnderscores(key: string): string {
  return key.replaceAll('_', '');
}

/** A file of the configuration, watched while the bot runs. */
interface LiveFile {
  readonly source: ConfigSource;
  /** Its present content, or the last that could be read; `undefined` when there is no file. Never rejects. */
  current(): Promise<ConfigFile | undefined>;
}

interface Listeners {
  /** Called when its content has changed, but not for the first read. */
  onChange(file: ConfigFile | undefined, before: ConfigFile | undefined): void;
  /** Called once for each edit that cannot be used. */
  onProblem(sentence: string): void;
}

/** The state of a file on the disk at the last check. */
const ABSENT = 'absent';

/** Watches one file. Each check costs a `stat`; the content is read only when that has changed. */
function createLiveFile(source: ConfigSource, { onChange, onProblem }: Listeners): LiveFile {
  let looked = false;
  let seen: string | undefined;
  let text: string | undefined;
  let file: ConfigFile | undefined;
  let told: string | undefined;
  let looking: Promise<ConfigFile | undefined> | undefined;

  const take = (fresh: string | undefined) => {
    if (fresh === text) return;
    const parsed = fresh === undefined ? undefined : parseConfigFile(source, fresh);
    const before = file;
    [file, text] = [parsed, fresh];
    if (looked) onChange(file, before);
  };

  const look = async () => {
    try {
      const found = await stateOf(source);
      if (found === seen) return file;
      const fresh = found === ABSENT ? undefined : await readText(source);
      seen = found;
      take(fresh);
      told = undefined;
    } catch (error) {
      const sentence = speaking(undefined, () => operatorSentenceOf(error)) ?? String(error);
      if (sentence !== told) onProblem(sentence);
      told = sentence;
    }
    looked = true;
    return file;
  };

  return {
    source,
    current() {
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
  };
}

async function stateOf({ path, source }: ConfigSource): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return ABSENT;
    throw unreadable(source, error);
  }
}

async function readText({ path, source }: ConfigSource): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw unreadable(source, error);
  }
}

/**
 * Calls `onChange` when something happens in a folder, possibly more than once for one change. Returns a function that stops it; `undefined` when the folder
 * cannot be watched.
 */
export type WatchFolder = (folder: string, onChange: () => void) => (() => void) | undefined;

/** Uses notifications of the operating system, which do not keep the process alive. Without them (some network drives), a check at each use finds changes. */
export const watchFolder: WatchFolder = (folder, onChange) => {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    // When a watched folder is deleted, some systems report an error.
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    // No such folder, or no more watches available.
    return undefined;
  }
};

export const SNOWFLAKE = /^\d{15,22}$/;

/** Whether a text is a Discord id, and so safe as a part of a path. */
export function isSnowflake(text: string): boolean {
  return SNOWFLAKE.test(text);
}

/** The file that may contain every key of the host. */
const SHARED = 'shared.yaml';

export const GUILDS = 'guilds';

export const BOTS = 'bots';

/** Which of the host's keys a file may contain: all, those of a single bot, or none. */
export type HostKeys = 'all' | 'own' | 'none';

/** @param name relative to the folder of the configuration */
export function hostKeysOf(name: string, botName: string | undefined): HostKeys {
  if (name === SHARED) return 'all';
  return botName !== undefined && name === join(BOTS, `${botName}.yaml`) ? 'own' : 'none';
}

/** The files that apply in a guild, the widest first, relative to the folder of the configuration. */
function layerFiles(botName: string | undefined, guildId: string | null): readonly string[] {
  const guild = guildId !== null && isSnowflake(guildId) ? guildId : undefined;
  return [
    SHARED,
    ...(guild === undefined ? [] : [join(GUILDS, `${guild}.yaml`)]),
    ...(botName === undefined ? [] : [join(BOTS, `${botName}.yaml`)]),
    ...(botName === undefined || guild === undefined ? [] : [join(BOTS, `${botName}-${guild}.yaml`)]),
  ];
}

/** Every existing file that may apply somewhere. */
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

/** The bots with a separate file, for all guilds or for one. */
export function botsIn(dir: string): readonly string[] {
  const names = namesIn(join(dir, BOTS)).flatMap((file) => /^(.+?)(?:-\d{15,22})?\.yaml$/.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}

/** A path for people: relative to the working directory where it is below it. */
export function shownPath(root: string, path: string): string {
  const fromRoot = relative(root, path).replaceAll('\\', '/');
  return fromRoot.startsWith('..') || isAbsolute(fromRoot) ? path : fromRoot;
}

export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // A folder that does not exist has no files.
    return [];
  }
}
