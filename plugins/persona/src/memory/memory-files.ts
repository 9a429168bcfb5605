import { type Clock, type Journals, type Logger, z } from '@cinnabar/sdk';
import { type Change, encodeVector, isEmpty, MemoryIndex } from './memory-index.js';
import { createSearch } from './search.js';
import { memorySchema, type Place } from './types.js';

/** One line of a journal of memories. Unknown fields, which earlier versions wrote, are ignored. */
const changeSchema: z.ZodType<Change> = z.object({
  drop: z.array(z.string()).optional(),
  put: z.array(memorySchema).optional(),
  reflected: z.union([z.array(z.string()), z.literal('all')]).optional(),
  seen: z.array(z.tuple([z.string(), z.number()])).optional(),
  vectors: z.array(z.tuple([z.string(), z.string()])).optional(),
});

export type MemoryFile = Awaited<ReturnType<typeof openMemoryFile>>;

/** Number of lines beyond twice the number of memories at which a journal is rewritten. */
const SLACK_LINES = 1_000;

/**
 * Opens the memories of one persona in one guild or direct message: an index in memory, and an append-only journal that is rewritten when it has grown.
 * @param schedule requests a later `maintain`
 */
async function openMemoryFile(path: readonly string[], { journals, clock, log }: FileOptions, schedule: () => void) {
  const index = new MemoryIndex();
  const search = createSearch(index);
  const seen = new Map<string, number>();
  let lines = 0;
  let tainted = false;
  let last: Promise<unknown> = Promise.resolve();

  const journal = journals.open(path, { schema: changeSchema });
  const { records, damaged, torn } = await journal.read();
  for (const change of records) {
    index.apply(change);
    lines++;
    tainted ||= (change.drop?.length ?? 0) > 0;
  }
  if (damaged > 0) {
    // The next maintenance rewrites the journal without the damaged lines, so a copy is kept.
    const copy = torn ? undefined : await journal.keepCopy(`corrupt-${labelOf(clock.now())}`);
    log.warn('lines of memories could not be read and were passed over', { path: path.join('/'), damaged, copy });
    tainted = true;
  }
  if (tainted) schedule();

  const write = async (change: Change) => {
    if (isEmpty(change)) return;
    try {
      await journal.append(change);
      lines++;
    } catch (error) {
      // An erasure that could not be appended is applied by rewriting the journal.
      tainted = true;
      schedule();
      throw error;
    }
    if (lines > 2 * index.size + SLACK_LINES) schedule();
  };

  const rewrite = async () => {
    seen.clear();
    const snapshot = [...snapshotOf(index)];
    await journal.rewrite(snapshot);
    lines = snapshot.length;
    tainted = false;
  };

  const run = <T>(task: () => Promise<T>): Promise<T> => {
    const mine = last.then(task, task);
    last = mine.catch(() => undefined);
    return mine;
  };

  return {
    index,
    search,
    /** Runs tasks that change the memories one after another. */
    run,
    /** Appends a change to the journal, then applies it. Must be called within `run`. */
    async commit(change: Change): Promise<void> {
      await write(change);
      index.apply(change);
    },
    /**
     * Applies a deletion, then appends it, so that deleted memories are no longer used even if the disk fails. Maintenance rewrites the journal without them.
     * Must be called within `run`.
     */
    async erase(change: Change): Promise<void> {
      index.apply(change);
      if ((change.drop?.length ?? 0) > 0) {
        tainted = true;
        schedule();
      }
      await write(change);
    },
    /** Rewrites the journal without deleted memories. Must be called within `run`. */
    rewrite,
    /** Notes when memories were recalled; the next maintenance writes this. */
    recalled(ids: readonly string[], at: number): void {
      index.apply({ seen: ids.map((id) => [id, at] as const) });
      for (const id of ids) seen.set(id, at);
      schedule();
    },
    /** Rewrites the journal if that is due, otherwise appends the times of recall. */
    maintain: () =>
      run(async () => {
        if (tainted || lines > 2 * index.size + SLACK_LINES) return rewrite();
        const due = [...seen].filter(([id]) => index.get(id) !== undefined);
        seen.clear();
        await write({ seen: due });
      }),
    /** Deletes all memories and the journal. Must be called within `run`. */
    async wipe(): Promise<void> {
      index.apply({ drop: [...index.all()].map(({ id }) => id) });
      await journal.erase();
      lines = 0;
      tainted = false;
    },
    /** Deletes copies of a damaged journal that contain the text. Must be called within `run`. */
    removeCopies: (text: string) => journal.eraseCopies((copy) => copy.includes(text)),
    /** Closes the journal; the next change opens it again. */
    release: () => journal.release(),
  };
}

/** The content of the index as changes to an empty index. */
function* snapshotOf(index: MemoryIndex): Generator<Change> {
  const pending = new Set(index.pending().map(({ id }) => id));
  for (const memory of index.all()) if (!pending.has(memory.id)) yield { put: [memory] };
  yield { reflected: 'all' };
  for (const memory of index.pending()) yield { put: [memory] };
  for (const { id } of index.all()) {
    const vector = index.vector(id);
    if (vector !== undefined) yield { vectors: [[id, encodeVector([...vector])]] };
  }
}

const labelOf = (now: number): string => new Date(now).toISOString().replaceAll(/[:.]/g, '').replaceAll('-', '');

const ID = /^\d{1,20}$/;
const MIND = /^[a-z0-9-]{1,64}$/;

/** The key of a guild or direct message. Memories of one space are never used in another. */
export function spaceOf({ guildId, channelId }: Omit<Place, 'mind'>): string {
  const id = guildId ?? channelId;
  // Although ids come from Discord, they are checked before they become part of a path.
  if (!ID.test(id)) throw new TypeError(`"${id}" is not an id`);
  return guildId === null ? `dm-${id}` : id;
}

const isSpace = (name: string): boolean => /^(?:dm-)?\d{1,20}$/.test(name);

function pathOf(space: string, mind: string): readonly string[] {
  if (!MIND.test(mind)) throw new TypeError(`"${mind}" is not the name of a mind`);
  return [space, mind];
}

export type MemoryFiles = ReturnType<typeof createMemoryFiles>;

export interface FileOptions {
  readonly journals: Journals;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Runs a task later, unless the plugin stops before. */
  after(delayMs: number, task: () => unknown): unknown;
}

const MOST_LOADED = 64;
const MAINTENANCE_MS = 60_000;

/** The journals of all personas' memories: loaded when first used; the least recently used are closed when too many are open. */
export function createMemoryFiles(options: FileOptions) {
  const { journals, log, after } = options;
  const loaded = new Map<string, Promise<MemoryFile>>();
  const inUse = new Map<string, number>();
  const due = new Set<string>();
  let minds: Promise<Map<string, Set<string>>> | undefined;

  /** The minds of each space of this host, listed once, so that a deleted message in a space without memories needs no disk access. */
  const known = () => (minds ??= listMinds(journals));

  const maintain = async (key: string) => {
    due.delete(key);
    try {
      await (await loaded.get(key))?.maintain();
    } catch (error) {
      log.error('memories could not be brought up to date', { journal: key, error });
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
    const path = pathOf(space, mind);
    const all = await known();
    all.set(space, (all.get(space) ?? new Set()).add(mind));
    return openMemoryFile(path, options, () => schedule(key));
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
      // Loading is tried again at the next use.
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
    use: async <T>(place: Place, task: (file: MemoryFile) => Promise<T>): Promise<T> =>
      use(spaceOf(place), place.mind, task),
    /** Runs the task for every mind with memories in the guild or direct message, one after another. */
    async useEach<T>(space: string, task: (file: MemoryFile, mind: string) => Promise<T>): Promise<readonly T[]> {
      const results = [];
      for (const mind of [...((await known()).get(space) ?? [])]) {
        results.push(await use(space, mind, (file) => task(file, mind)));
      }
      return results;
    },
    /** Guilds and direct messages with memories. */
    spaces: async (): Promise<readonly string[]> => [...(await known()).keys()],
    async close(): Promise<void> {
      await Promise.all([...loaded.keys()].map(maintain));
      await Promise.allSettled([...loaded.keys()].map(letGo));
    },
  };
}

async function listMinds(journals: Journals): Promise<Map<string, Set<string>>> {
  const minds = new Map<string, Set<string>>();
  for (const { path, isOwn } of await journals.list()) {
    const [space = '', mind = '', ...others] = path;
    if (!isOwn || others.length > 0 || !isSpace(space) || !MIND.test(mind)) continue;
    minds.set(space, (minds.get(space) ?? new Set()).add(mind));
  }
  return minds;
}
