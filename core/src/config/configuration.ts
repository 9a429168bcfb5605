import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CinnabarError, type Clock, type Configuration, type Logger, type z } from '@cinnabar/sdk';
import { createClaims } from './claims.js';
import type { ConfigFile } from './file.js';
import { BOTS, GUILDS, hostKeysOf, layerFiles, presentFiles, shownPath } from './layout.js';
import { createLiveFile, type LiveFile } from './live-file.js';
import { type WatchFolder, watchFolder } from './watch.js';

/** An editor writes in several steps. */
const DEBOUNCE_MS = 100;

export interface ConfigurationService extends Configuration {
  /** Claims the keys of a plugin's schema, whose values `start` checks. */
  declare(schema: z.ZodObject): () => void;
  /**
   * Checks every file that may apply somewhere, follows the folder from here on, and logs the keys that no plugin has claimed.
   * @throws CinnabarError CINNABAR_CONFIG_INVALID with file, line and key of each value that does not fit
   */
  start(): Promise<void>;
  stop(): void;
}

export interface ConfigurationOptions {
  /** The folder of the configuration. */
  readonly dir: string;
  /** Folder that the bot was started in, for showing paths. */
  readonly root: string;
  readonly botName: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of every edit that cannot be used. Must not throw. */
  readonly onProblem?: (sentence: string) => void;
  readonly watch?: WatchFolder;
}

/** Builds what plugins see of the configuration files. */
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

  /** Again after every change: folders come and go, and one that was made anew is another. */
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
