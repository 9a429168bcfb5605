import { createHash } from 'node:crypto';
import { createJournal, createKeyedMutex, type Journal, z } from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import type { DocumentPath, Driver } from './driver.js';

/**
 * An index of the documents that contain data about a person or a server, so that these are found without reading all others. An id is recorded before the
 * document is written, and is not removed when the document changes: a listed document has contained data about the id at some time, and has to be checked.
 */
export interface SubjectIndex {
  /** Records ids of a document. Resolves when this is durable. @throws CINNABAR_STORAGE_WRITE */
  note(path: DocumentPath, ids: Iterable<string>): Promise<void>;
  /** Records, once, the documents that were written before the index existed. @param part identifies those documents */
  complete(
    part: string,
    scan: () => AsyncIterable<readonly [path: DocumentPath, ids: Iterable<string>]>,
  ): Promise<void>;
  /** Documents that contain data about the person or server, or did. */
  find(id: string): Promise<readonly DocumentPath[]>;
  /** The keys of such documents directly below a path. */
  keysBelow(id: string, prefix: DocumentPath): Promise<readonly string[]>;
  /** Removes an id after its documents were deleted. */
  forget(id: string): Promise<void>;
  /** Resolves when no write is pending. */
  idle(): Promise<void>;
}

const ROOT: DocumentPath = ['@host', 'subjects'];
const PARTS = 'parts';
/** Number of journals that stay in memory after they were read. */
const MOST_READ = 16;
/** A journal is rewritten without deleted documents when it has this many lines more than twice the number after the last rewrite. */
const SLACK_LINES = 2_000;
const NOTED_AT_ONCE = 200;

const lineSchema = z.union([
  z.object({ of: z.string(), in: z.array(z.string()) }),
  /** Number of lines when the journal was last rewritten. */
  z.object({ kept: z.number() }),
]);
type Line = z.output<typeof lineSchema>;

/** By id, then by the path of the folder as JSON: the keys of documents. */
type Known = Map<string, Map<string, Set<string>>>;

/** A part of the ids, so that finding an id reads only a small part of the index. */
interface Shard {
  readonly journal: Journal<Line>;
  /** `undefined` until it was read. */
  known: Known | undefined;
  /** Lines that are being written: a rewrite must include them. */
  readonly writing: Set<Promise<void>>;
}

/** Stores the index in journals of the host, in the storage of the documents, so that a backup contains both. */
export function createSubjectIndex(driver: Pick<Driver, 'journal' | 'list'>): SubjectIndex {
  const mutex = createKeyedMutex();
  const shards = new LRUCache<string, Shard>({ max: MOST_READ });
  const parts = createJournal(driver.journal([...ROOT, PARTS]), z.object({ part: z.string() }));
  let complete: Set<string> | undefined;

  /** Exclusive access to the ids of one shard. */
  const withShard = <T>(id: string, task: (shard: Shard) => Promise<T>): Promise<T> => {
    const name = shardOf(id);
    return mutex.run(name, () => {
      const shard = shards.get(name) ?? {
        journal: createJournal(driver.journal([...ROOT, name]), lineSchema),
        known: undefined,
        writing: new Set(),
      };
      shards.set(name, shard);
      return task(shard);
    });
  };

  const load = async (shard: Shard): Promise<Known> => {
    await Promise.allSettled(shard.writing);
    if (shard.known !== undefined) return shard.known;
    const { records } = await shard.journal.read();
    const known: Known = new Map();
    let kept = 0;
    for (const line of records) {
      if ('kept' in line) kept = line.kept;
      else add(known, line.of, line.in);
    }
    shard.known = known;
    if (records.length > 2 * kept + SLACK_LINES) await rewrite(shard, await removeGone(known, driver));
    return shard.known;
  };

  const rewrite = async (shard: Shard, known: Known) => {
    const lines = [...known].flatMap(([of, folders]) => pathsIn(folders).map((path) => ({ of, in: [...path] })));
    await shard.journal.rewrite([{ kept: lines.length }, ...lines]);
    await shard.journal.release();
    shard.known = known;
  };

  const note: SubjectIndex['note'] = async (path, ids) => {
    const [folder, key] = [folderOf(path), path.at(-1) ?? ''];
    const begin = async (shard: Shard, id: string): Promise<void> => {
      if (shard.known?.get(id)?.get(folder)?.has(key) === true) return;
      await shard.journal.append({ of: id, in: [...path] });
      if (shard.known !== undefined) add(shard.known, id, path);
    };
    const noteOne = async (id: string) => {
      // The shard is held only until the addition begins, so that concurrent additions are written together.
      const { shard, written } = await withShard(id, async (shard) => {
        const written = begin(shard, id);
        shard.writing.add(written);
        const done = () => shard.writing.delete(written);
        written.then(done, done);
        return { shard, written };
      });
      try {
        await written;
      } finally {
        // Released at once, since most journals are not written to again soon.
        if (shard.writing.size === 0) await shard.journal.release();
      }
    };
    await Promise.all([...new Set(ids)].map(noteOne));
  };

  return {
    note,
    complete: (part, scan) =>
      mutex.run(PARTS, async () => {
        complete ??= new Set((await parts.read()).records.map((line) => line.part));
        if (complete.has(part)) return;
        let batch: Promise<void>[] = [];
        for await (const [path, ids] of scan()) {
          batch.push(note(path, ids));
          if (batch.length < NOTED_AT_ONCE) continue;
          await Promise.all(batch);
          batch = [];
        }
        await Promise.all(batch);
        await parts.append({ part });
        await parts.release();
        complete.add(part);
      }),
    find: (id) => withShard(id, async (shard) => pathsIn((await load(shard)).get(id) ?? new Map())),
    keysBelow: (id, prefix) =>
      withShard(id, async (shard) => [...((await load(shard)).get(id)?.get(JSON.stringify(prefix)) ?? [])]),
    forget: (id) =>
      withShard(id, async (shard) => {
        const known = await load(shard);
        if (known.delete(id)) await rewrite(shard, known);
      }),
    async idle() {
      await mutex.idle();
      await Promise.allSettled([...shards.values()].flatMap(({ writing }) => [...writing]));
    },
  };
}

/** The name of the shard of an id, one of 256. */
const shardOf = (id: string): string => `s${createHash('sha256').update(id).digest('hex').slice(0, 2)}`;
const folderOf = (path: DocumentPath): string => JSON.stringify(path.slice(0, -1));
const pathOf = (text: string): DocumentPath => z.array(z.string()).parse(JSON.parse(text));

function pathsIn(folders: ReadonlyMap<string, ReadonlySet<string>>): readonly DocumentPath[] {
  return [...folders].flatMap(([folder, keys]) => {
    const above = pathOf(folder);
    return [...keys].map((key) => [...above, key]);
  });
}

function add(known: Known, id: string, path: DocumentPath): void {
  const folders = known.get(id) ?? new Map<string, Set<string>>();
  const folder = folderOf(path);
  const keys = folders.get(folder) ?? new Set();
  known.set(id, folders.set(folder, keys.add(path.at(-1) ?? '')));
}

/** The index without documents that are no longer stored. Lists each folder once. */
async function removeGone(known: Known, driver: Pick<Driver, 'list'>): Promise<Known> {
  const stored = new Map<string, ReadonlySet<string>>();
  const left: Known = new Map();
  for (const [id, folders] of known)
    for (const [folder, keys] of folders) {
      const listed =
        stored.get(folder) ?? new Set((await driver.list(pathOf(folder), 'all')).flatMap((path) => path.at(-1) ?? []));
      stored.set(folder, listed);
      for (const key of keys) if (listed.has(key)) add(left, id, [...pathOf(folder), key]);
    }
  return left;
}
