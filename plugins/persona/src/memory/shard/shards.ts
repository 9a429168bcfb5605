import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Files, Logger } from '@cinnabar/sdk';
import type { Place } from '../types.js';
import { fileOf, isSpace, mindOf, spaceOf } from './place.js';
import { openShard, type Shard } from './shard.js';

/** All shards; each is loaded at its first use, and let go when others are used more. */
export interface Shards {
  use<T>(place: Place, task: (shard: Shard) => Promise<T>): Promise<T>;
  /** For every mind that remembers anything of the guild or direct message, one after another. */
  useEach<T>(space: string, task: (shard: Shard, mind: string) => Promise<T>): Promise<readonly T[]>;
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

export function createShards({ folder, files, clock, log, after }: Parts): Shards {
  const loaded = new Map<string, Promise<Shard>>();
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
      log.error('a memory file could not be brought up to date', { shard: key, error });
    }
  };

  const schedule = (key: string) => {
    if (due.has(key)) return;
    due.add(key);
    after(MAINTENANCE_MS, () => maintain(key));
  };

  const letGo = async (key: string) => {
    const shard = loaded.get(key);
    loaded.delete(key);
    await (await shard)?.release();
  };

  const trim = async () => {
    for (const key of [...loaded.keys()]) {
      if (loaded.size <= MOST_LOADED) return;
      if (inUse.has(key)) continue;
      await maintain(key);
      if (!inUse.has(key)) await letGo(key);
    }
  };

  const open = async (key: string, space: string, mind: string): Promise<Shard> => {
    const path = fileOf(await rootFolder(), space, mind);
    const all = await known();
    all.set(space, (all.get(space) ?? new Set()).add(mind));
    return openShard({ path, files, clock, log, schedule: () => schedule(key) });
  };

  const load = (key: string, space: string, mind: string): Promise<Shard> => {
    const shard = loaded.get(key) ?? open(key, space, mind);
    loaded.delete(key);
    loaded.set(key, shard);
    return shard;
  };

  const use = async <T>(space: string, mind: string, task: (shard: Shard) => Promise<T>): Promise<T> => {
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
        results.push(await use(space, mind, (shard) => task(shard, mind)));
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
