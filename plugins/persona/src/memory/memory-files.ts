import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Files, Logger } from '@cinnabar/sdk';
import { type MemoryFile, openMemoryFile } from './memory-file.js';
import type { Place } from './types.js';

const ID = /^\d{1,20}$/;
const MIND = /^[a-z0-9-]{1,64}$/;
const FILE = /^([a-z0-9-]{1,64})\.jsonl$/;

/** A guild, or a direct message: what lies in different ones never meets. */
export function spaceOf({ guildId, channelId }: Omit<Place, 'mind'>): string {
  const id = guildId ?? channelId;
  // Ids come from Discord, but a path is not the place to rely on it.
  if (!ID.test(id)) throw new TypeError(`"${id}" is not an id`);
  return guildId === null ? `dm-${id}` : id;
}

const isSpace = (name: string): boolean => /^(?:dm-)?\d{1,20}$/.test(name);

function fileOf(root: string, space: string, mind: string): string {
  if (!MIND.test(mind)) throw new TypeError(`"${mind}" is not the name of a mind`);
  return join(root, space, `${mind}.jsonl`);
}

/** The mind whose file it is, or `undefined` for a file that is not one of ours. */
const mindOf = (name: string): string | undefined => FILE.exec(name)?.[1];

/** The files of all that personas remember; each is loaded at its first use, and let go when others are used more. */
export interface MemoryFiles {
  use<T>(place: Place, task: (file: MemoryFile) => Promise<T>): Promise<T>;
  /** For every mind that remembers anything of the guild or direct message, one after another. */
  useEach<T>(space: string, task: (file: MemoryFile, mind: string) => Promise<T>): Promise<readonly T[]>;
  /** Guilds and direct messages of which anything is remembered. */
  spaces(): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface Parts {
  /** Where the files lie. */
  folder(): Promise<string>;
  readonly files: Pick<Files, 'journal'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Runs a task later, and takes it back when the plugin stops. */
  after(delayMs: number, task: () => unknown): unknown;
}

const MOST_LOADED = 64;
const MAINTENANCE_MS = 60_000;

export function createMemoryFiles({ folder, files, clock, log, after }: Parts): MemoryFiles {
  const loaded = new Map<string, Promise<MemoryFile>>();
  const inUse = new Map<string, number>();
  const due = new Set<string>();
  let root: Promise<string> | undefined;
  let minds: Promise<Map<string, Set<string>>> | undefined;

  const rootFolder = () => (root ??= folder());
  /** The minds of each space, listed once: a message that is deleted where nothing is remembered costs no look at the disk. */
  const known = () => (minds ??= rootFolder().then(listMinds));

  const maintain = async (key: string) => {
    due.delete(key);
    try {
      await (await loaded.get(key))?.maintain();
    } catch (error) {
      log.error('a memory file could not be brought up to date', { file: key, error });
    }
  };

  const schedule = (key: string) => {
    if (due.has(key)) return;
    due.add(key);
    after(MAINTENANCE_MS, () => maintain(key));
  };

  const letGo = async (key: string) => {
    const file = loaded.get(key);
    loaded.delete(key);
    await (await file)?.release();
  };

  const trim = async () => {
    for (const key of [...loaded.keys()]) {
      if (loaded.size <= MOST_LOADED) return;
      if (inUse.has(key)) continue;
      await maintain(key);
      if (!inUse.has(key)) await letGo(key);
    }
  };

  const open = async (key: string, space: string, mind: string): Promise<MemoryFile> => {
    const path = fileOf(await rootFolder(), space, mind);
    const all = await known();
    all.set(space, (all.get(space) ?? new Set()).add(mind));
    return openMemoryFile({ path, files, clock, log, schedule: () => schedule(key) });
  };

  const load = (key: string, space: string, mind: string): Promise<MemoryFile> => {
    const file = loaded.get(key) ?? open(key, space, mind);
    loaded.delete(key);
    loaded.set(key, file);
    return file;
  };

  const use = async <T>(space: string, mind: string, task: (file: MemoryFile) => Promise<T>): Promise<T> => {
    const key = `${space}/${mind}`;
    inUse.set(key, (inUse.get(key) ?? 0) + 1);
    const ready = load(key, space, mind);
    try {
      return await task(await ready);
    } catch (error) {
      // What could not be loaded is tried again the next time.
      if (loaded.get(key) === ready) await ready.catch(() => loaded.delete(key));
      throw error;
    } finally {
      const others = (inUse.get(key) ?? 1) - 1;
      if (others > 0) inUse.set(key, others);
      else inUse.delete(key);
      if (loaded.size > MOST_LOADED) await trim();
    }
  };

  return {
    use: async (place, task) => use(spaceOf(place), place.mind, task),
    async useEach(space, task) {
      const results = [];
      for (const mind of [...((await known()).get(space) ?? [])]) {
        results.push(await use(space, mind, (file) => task(file, mind)));
      }
      return results;
    },
    spaces: async () => [...(await known()).keys()],
    async close() {
      await Promise.all([...loaded.keys()].map(maintain));
      await Promise.allSettled([...loaded.keys()].map(letGo));
    },
  };
}

async function listMinds(root: string): Promise<Map<string, Set<string>>> {
  const spaces = (await readdir(root).catch(() => [])).filter(isSpace);
  const listed = spaces.map(async (space) => {
    const names = await readdir(join(root, space)).catch(() => []);
    return [space, new Set(names.flatMap((name) => mindOf(name) ?? []))] as const;
  });
  return new Map(await Promise.all(listed));
}
