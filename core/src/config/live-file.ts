import { watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { operatorSentenceOf } from '@cinnabar/sdk';
import { type ConfigFile, type ConfigSource, parseConfigFile, unreadable } from './files.js';

/** A file of the configuration, followed while the bot runs. */
export interface LiveFile {
  readonly source: ConfigSource;
  /** As it is now, or as it last could be read; `undefined` when there is none. Never rejects. */
  current(): Promise<ConfigFile | undefined>;
}

interface Listeners {
  /** Its content has changed. Not called for the first look. */
  onChange(file: ConfigFile | undefined, before: ConfigFile | undefined): void;
  /** An edit that cannot be used, once for each. */
  onProblem(sentence: string): void;
}

/** What a file was like on the disk when it was last looked at. */
const ABSENT = 'absent';

/** Follows one file. Each look costs a `stat`; the content is read only when that says that it has changed. */
export function createLiveFile(source: ConfigSource, { onChange, onProblem }: Listeners): LiveFile {
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
      const sentence = operatorSentenceOf(error) ?? String(error);
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

/** Calls `onChange` when something happens in a folder, maybe more than once for one change. Returns how to stop; `undefined` when it cannot be watched. */
export type WatchFolder = (folder: string, onChange: () => void) => (() => void) | undefined;

/** The operating system's own notices. They keep no process alive, and where there are none (some network drives) a look at use does. */
export const watchFolder: WatchFolder = (folder, onChange) => {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    // A watched folder that goes away is an error on some systems.
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    // No such folder, or no more watches to be had.
    return undefined;
  }
};
