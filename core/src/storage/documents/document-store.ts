import { AsyncLocalStorage } from 'node:async_hooks';
import { CinnabarError, type Logger, plainIssue, storageReadError, storageWriteError, z } from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import {
  DamagedDocument,
  type DocumentChange,
  type DocumentPath,
  type Driver,
  nameOf,
  OutdatedDocument,
  ownerOf,
  type SharedDocuments,
  type Stored,
  type Whose,
} from '../driver.js';
import type { SubjectIndex } from '../subjects.js';

/** A document that could not be used, for the log and for the owner. */
export interface StorageProblem {
  /** `party/collections/user/rosters/42`. */
  readonly document: string;
  /** The problem, as a sentence for people. */
  readonly detail: string;
  /** The place to which it was moved; `undefined` when it was gone. */
  readonly keptAs: string | undefined;
}

/** The stored content of one path at one time. Derived values can be cached by the identity of this object. */
interface CachedDocument {
  /** The content as JSON, which takes a fraction of the memory of objects; `undefined` when nothing is stored. */
  readonly json: string | undefined;
  /** The revision, in a medium that other processes write to as well. */
  readonly revision: string | undefined;
}

export function storedIn({ json }: CachedDocument): Stored | undefined {
  return json === undefined ? undefined : JSON.parse(json);
}

/** Whether values derived from an entry may be cached with it. For longer documents only the JSON is cached. */
function isSmall({ json = '' }: CachedDocument): boolean {
  return json.length <= SMALL_CHARACTERS;
}

/** The stored documents of all plugins: cached, with one change at a time for each, and damaged ones put aside. */
export interface DocumentStore {
  /** The last loaded or saved content, synchronously. */
  peek(path: DocumentPath): CachedDocument | undefined;
  /** @throws CINNABAR_STORAGE_READ when the medium cannot be read, but not for damaged documents */
  load(path: DocumentPath): Promise<CachedDocument>;
  /** Loads documents that will be requested next, when loading many at once is cheaper. Never rejects; `load` does. */
  preload(paths: readonly DocumentPath[]): Promise<void>;
  /** The content that `load` returns, parsed. */
  stored(path: DocumentPath): Promise<Stored | undefined>;
  /** Runs alone among the tasks for this document. @throws CINNABAR_DOCUMENT_NESTED when called from inside such a task */
  exclusive<T>(path: DocumentPath, task: () => Promise<T>): Promise<T>;
  /**
   * Saves a document, or deletes it when `stored` is `undefined`. To be called inside `exclusive`. When it rejects, the next `load` reads the medium again.
   * @param before the loaded content that is replaced
   * @param people members whose data it contains now, and did not before
   * @throws CINNABAR_STORAGE_WRITE
   * @throws OutdatedDocument when another process has replaced it already
   */
  save(
    path: DocumentPath,
    stored: Stored | undefined,
    before: CachedDocument,
    people: readonly string[],
  ): Promise<CachedDocument>;
  /** Keeps a copy of the stored document, under a label. To be called inside `exclusive`. @throws CINNABAR_STORAGE_WRITE */
  keep(path: DocumentPath, label: string): Promise<void>;
  /** Puts a document aside and reports it. To be called inside `exclusive`. The next `load` returns the last good copy, or nothing. */
  reject(path: DocumentPath, detail: string): Promise<void>;
  /** Removes a document with every copy of it. @throws CINNABAR_STORAGE_WRITE */
  erase(path: DocumentPath): Promise<void>;
  list(prefix: DocumentPath, whose?: Whose): Promise<readonly DocumentPath[]>;
  /**
   * Calls the listener after a document directly below `prefix` was changed by another process, by the host of other servers in this process, or by hand.
   * Changes through this store are not reported.
   * @param listener its second argument: whether the document is listed as the host's own
   * @returns a function that removes the listener
   */
  watch(prefix: DocumentPath, listener: RemoteListener): () => void;
  /** Calls the listener after a time in which changes could not be received: deletions may have been missed. @returns a function that removes the listener */
  onGap(listener: () => void): () => void;
  idle(): Promise<void>;
}

type RemoteListener = (path: DocumentPath, isOwn: boolean) => void;

/** The server of a channel or role; `null` for a channel of no server, `undefined` when it is not known. */
export type GuildOf = (kind: 'channel' | 'role', id: string) => string | null | undefined;

const SMALL_CHARACTERS = 4_000;
/** The maximum size of the cache, including values derived from small documents; the least recently used are dropped first. */
const CACHED_BYTES = 4_000_000;
/** Size of an entry without its JSON, and of the objects for one character of JSON; measured, rounded up. */
const ENTRY_BYTES = 400;
const OBJECT_BYTES = 4;

/** A document, its last good copy, then nothing. A driver that returns a further version has not put the others aside. */
const ATTEMPTS = 3;

const idOf = (path: DocumentPath): string => JSON.stringify(path);
const pathOf = (id: string): DocumentPath => z.array(z.string()).parse(JSON.parse(id));

async function readFrom({ shared, read }: Driver, path: DocumentPath) {
  return shared === undefined ? { stored: await read(path), revision: undefined } : shared.read(path);
}

/** Repeats an attempt that returns `undefined` after it has put the document aside. @throws CINNABAR_DOCUMENT_INVALID when that does not help */
async function untilUsable<T>(path: DocumentPath, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let attempts = 0; attempts < ATTEMPTS; attempts += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  const detail = 'it comes back although it was put aside';
  throw new CinnabarError('CINNABAR_DOCUMENT_INVALID', { document: nameOf(path), detail });
}

export function createDocumentStore(options: {
  readonly driver: Driver;
  readonly log: Logger;
  /** Must not throw. */
  readonly onProblem: (problem: StorageProblem) => void;
  readonly guildOf?: GuildOf;
  readonly subjects: Pick<SubjectIndex, 'note'>;
}): DocumentStore {
  const { driver, log, onProblem, guildOf = () => undefined, subjects } = options;
  const { shared } = driver;
  const queue = createKeyedQueue();
  const cache = new LRUCache<string, CachedDocument>({
    maxSize: CACHED_BYTES,
    sizeCalculation: (entry) => {
      const { json = '' } = entry;
      return ENTRY_BYTES + json.length * (isSmall(entry) ? 1 + OBJECT_BYTES : 1);
    },
  });

  const remember = (path: DocumentPath, stored: Stored | undefined, revision?: string): CachedDocument => {
    const entry = { json: stored === undefined ? undefined : JSON.stringify(stored), revision };
    cache.set(idOf(path), entry);
    return entry;
  };

  const writing = async <T>(path: DocumentPath, operation: () => Promise<T>): Promise<T> => {
    try {
      return await operation();
    } catch (cause) {
      // The write may have succeeded completely, partly, or not at all.
      cache.delete(idOf(path));
      throw cause instanceof OutdatedDocument ? cause : storageWriteError(nameOf(path), cause);
    }
  };

  const reading = async <T>(path: DocumentPath, operation: () => Promise<T>): Promise<T> => {
    try {
      return await operation();
    } catch (cause) {
      if (cause instanceof DamagedDocument) throw cause;
      throw storageReadError(nameOf(path), cause);
    }
  };

  const reject = async (path: DocumentPath, detail: string) => {
    cache.delete(idOf(path));
    const keptAs = await writing(path, () => driver.setAside(path));
    const problem = { document: nameOf(path), detail, keptAs };
    log.warn('a stored document could not be used; the last good copy is used where there is one', { ...problem });
    onProblem(problem);
  };

  const loadAlone = async (path: DocumentPath): Promise<CachedDocument> => {
    const cached = cache.get(idOf(path));
    if (cached !== undefined) return cached;
    return untilUsable(path, async () => {
      try {
        const { stored, revision } = await reading(path, () => readFrom(driver, path));
        return remember(path, stored, revision);
      } catch (error) {
        if (!(error instanceof DamagedDocument)) throw error;
        await reject(path, error.message);
        return undefined;
      }
    });
  };

  const exclusive = <T>(path: DocumentPath, task: () => Promise<T>): Promise<T> => {
    const id = idOf(path);
    if (!queue.holds(id)) return queue.run(id, task);
    return Promise.reject(new CinnabarError('CINNABAR_DOCUMENT_NESTED', { document: nameOf(path) }));
  };

  const load = async (path: DocumentPath): Promise<CachedDocument> => {
    const id = idOf(path);
    return cache.get(id) ?? (queue.holds(id) ? loadAlone(path) : queue.run(id, () => loadAlone(path)));
  };

  const watching = new Map<string, Set<RemoteListener>>();
  const afterGaps = new Set<() => void>();
  const notify = (path: DocumentPath, isOwn: boolean) => {
    for (const listener of watching.get(idOf(path.slice(0, -1))) ?? []) listener(path, isOwn);
  };
  /**
   * Drops the cached version of a document that another process has changed; once more after a running task for the document, which may still cache the version
   * that it has read before.
   */
  const outdated = ({ path, revision, isEcho, isOwn }: DocumentChange) => {
    const id = idOf(path);
    const drop = () => {
      const entry = cache.peek(id);
      if (entry !== undefined && (revision === undefined || entry.revision !== revision)) cache.delete(id);
    };
    drop();
    const follow = async () => {
      drop();
      if (!isEcho) notify(path, isOwn);
    };
    if (queue.isBusy(id)) void queue.run(id, follow);
    else if (!isEcho) notify(path, isOwn);
  };
  /** Drops outdated documents after changes may have been missed. */
  const compareAll = async (medium: SharedDocuments) => {
    const paths = [...new Set([...cache.keys(), ...queue.busyKeys()])].map(pathOf);
    const revisions = await medium.revisions(paths);
    for (const [index, path] of paths.entries()) {
      const revision = revisions[index];
      const isGone = revision === undefined && cache.peek(idOf(path))?.revision !== undefined;
      outdated({ path, revision, isEcho: !isGone, isOwn: true });
    }
    for (const change of await medium.missedBelow([...watching.keys()].map(pathOf))) outdated(change);
    for (const listener of afterGaps) listener();
  };
  shared?.listen({ changed: outdated, missed: () => compareAll(shared) });

  /** The server of a channel's or role's document, which the medium cannot derive from the path. */
  const placeOf = ([, , scope, ...rest]: DocumentPath): Pick<Stored, 'guildId'> => {
    const key = rest.at(-1);
    const guildId = key !== undefined && (scope === 'channel' || scope === 'role') ? guildOf(scope, key) : undefined;
    return guildId === undefined ? {} : { guildId };
  };

  return {
    peek: (path) => cache.get(idOf(path)),
    load,
    async preload(paths) {
      if (shared !== undefined) await Promise.allSettled(paths.map(load));
    },
    stored: async (path) => storedIn(await load(path)),
    exclusive,
    async save(path, stored, { json, revision }, people) {
      const owner = json === undefined ? ownerOf(path) : undefined;
      if (stored !== undefined) await subjects.note(path, owner === undefined ? people : [owner, ...people]);
      if (shared !== undefined) {
        const placed = stored && { ...stored, ...placeOf(path) };
        return remember(path, stored, await writing(path, () => shared.replace(path, placed, revision)));
      }
      await writing(path, () => (stored === undefined ? driver.delete(path) : driver.write(path, stored)));
      return remember(path, stored);
    },
    async keep(path, label) {
      await writing(path, () => driver.keep(path, label));
    },
    reject,
    erase: (path) =>
      exclusive(path, async () => {
        await writing(path, () => driver.erase(path));
        remember(path, undefined);
      }),
    list: (prefix, whose) => driver.list(prefix, whose),
    watch(prefix, listener) {
      const id = idOf(prefix);
      const listeners = watching.get(id) ?? new Set();
      watching.set(id, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && watching.get(id) === listeners) watching.delete(id);
      };
    },
    onGap(listener) {
      afterGaps.add(listener);
      return () => void afterGaps.delete(listener);
    },
    idle: () => queue.idle(),
  };
}

/** Runs tasks of one key one after another, in the order of the calls; tasks of different keys concurrently. */
interface KeyedQueue {
  run<T>(key: string, task: () => Promise<T>): Promise<T>;
  /** Whether the caller is inside a task of this key: waiting for another task of the key would never end. */
  holds(key: string): boolean;
  /** Whether a task of this key runs or waits. */
  isBusy(key: string): boolean;
  busyKeys(): Iterable<string>;
  /** Resolves when no task runs. */
  idle(): Promise<void>;
}

interface Turn {
  readonly key: string;
  readonly outer: Turn | undefined;
  over: boolean;
}

function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<void>>();
  const turns = new AsyncLocalStorage<Turn>();

  const holds = (key: string): boolean => {
    for (let turn = turns.getStore(); turn !== undefined; turn = turn.outer) {
      if (turn.key === key && !turn.over) return true;
    }
    return false;
  };

  return {
    holds,
    isBusy: (key) => tails.has(key),
    busyKeys: () => tails.keys(),
    run(key, task) {
      const turn: Turn = { key, outer: turns.getStore(), over: false };
      const result = (tails.get(key) ?? Promise.resolve()).then(() => turns.run(turn, task));
      const done = () => {
        turn.over = true;
        if (tails.get(key) === tail) tails.delete(key);
        // Disabled between tasks, since Node 20 tracks every promise and callback of the process while it is enabled.
        if (tails.size === 0) turns.disable();
      };
      const tail = result.then(done, done);
      tails.set(key, tail);
      return result;
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
  };
}

/** One document, typed by its shape. */
export interface Entry<T> {
  /** Resolves with a copy that the caller may change. */
  read(): Promise<T>;
  /**
   * Passes a draft to `body` and saves the data that it returns; `undefined` deletes the document. Resolves with the value of a later `read`. Nothing changes
   * when `body` throws, its data are not valid, or the write fails. When another process has changed the document meanwhile, `body` runs again with a draft of
   * the new version.
   */
  change(body: (draft: T, stored: () => Stored | undefined) => Promise<unknown>): Promise<T>;
}

/** The number of attempts to change a document that other processes change at the same time. One of the processes succeeds each time. */
const MOST_REPEATS = 20;

async function untilCurrent<T>(path: DocumentPath, attempt: () => Promise<T>): Promise<T> {
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof OutdatedDocument)) throw error;
      if (repeats === MOST_REPEATS) throw storageWriteError(nameOf(path), error);
    }
  }
}

type OpenEntry<T> = (path: DocumentPath) => Entry<T>;

/** Entries of one shape. The parsed value of a small document is cached until the document changes. */
export function createEntries<T>(store: DocumentStore, shape: Shape<T>): OpenEntry<T> {
  const views = new WeakMap<CachedDocument, { readonly value: T }>();
  /** The entry of all documents that are not stored. */
  let absent: { readonly value: T } | undefined;

  /** @returns whether the value was cached, so that callers must get copies */
  const keepView = (cached: CachedDocument, value: T): boolean => {
    if (cached.json === undefined) absent = { value };
    else if (isSmall(cached)) views.set(cached, { value });
    else return false;
    return true;
  };
  const copyOf = (cached: CachedDocument, path: DocumentPath): T => {
    const known = cached.json === undefined ? absent : views.get(cached);
    if (known !== undefined) return structuredClone(known.value);
    const value = shape.read(storedIn(cached), nameOf(path));
    return keepView(cached, value) ? structuredClone(value) : value;
  };

  /** The document, after versions that do not fit the schema were put aside. To be called inside `exclusive`. */
  const usable = (path: DocumentPath): Promise<{ readonly cached: CachedDocument; readonly draft: T }> =>
    untilUsable(path, async () => {
      const cached = await store.load(path);
      try {
        return { cached, draft: copyOf(cached, path) };
      } catch (error) {
        if (!(error instanceof InvalidDocument) || cached.json === undefined) throw error;
        await store.reject(path, shape.remedy === undefined ? error.message : `${error.message}. ${shape.remedy}`);
        return undefined;
      }
    });

  const peopleIn = (value: T): readonly string[] => shape.people?.(value) ?? [];

  const save = async (
    path: DocumentPath,
    before: CachedDocument,
    known: readonly string[],
    data: unknown,
  ): Promise<T> => {
    const stored = data === undefined ? undefined : { version: shape.version, data: asJson(data) };
    // Parsed before saving, so that content that the shape refuses is not written.
    const value = shape.read(stored, nameOf(path));
    const copy = structuredClone(value);
    const old = storedIn(before);
    if (before.json === (stored === undefined ? undefined : JSON.stringify(stored))) return copy;
    if (old !== undefined && stored !== undefined && old.version < stored.version) {
      await store.keep(path, `v${old.version}`);
    }
    const people = peopleIn(value).filter((id) => !known.includes(id));
    keepView(await store.save(path, stored, before, people), value);
    return copy;
  };

  return (path) => ({
    async read() {
      const cached = store.peek(path) ?? (await store.load(path));
      try {
        return copyOf(cached, path);
      } catch (error) {
        if (!(error instanceof InvalidDocument)) throw error;
      }
      return store.exclusive(path, async () => (await usable(path)).draft);
    },
    change: (body) =>
      store.exclusive(path, () =>
        untilCurrent(path, async () => {
          const { cached, draft } = await usable(path);
          const known = peopleIn(draft);
          return save(path, cached, known, await body(draft, () => storedIn(cached)));
        }),
      ),
  });
}

/** The data after a round trip through JSON, so that the value in memory is the one that the disk will return. */
function asJson(data: unknown): unknown {
  try {
    const text = JSON.stringify(data);
    return text === undefined ? undefined : JSON.parse(text);
  } catch (cause) {
    throw new InvalidDocument('it cannot be written as JSON', undefined, { cause });
  }
}

/**
 * How documents of one kind are parsed. `T` is the value for callers, also when nothing is stored. Functions are pure, so that results can be cached while the
 * stored content is the same.
 */
export interface Shape<T> {
  /** The version with which documents are saved. */
  readonly version: number;
  /** The remedy for the plugin's author when stored documents no longer fit the schema; a sentence without its final full stop. */
  readonly remedy?: string;
  /** @throws InvalidDocument when the stored content is invalid, CINNABAR_DOCUMENT_NEWER when it must not be changed */
  read(stored: Stored | undefined, document: string): T;
  /** The members whose data a document contains, in addition to the one in its path. @default none */
  people?(value: T): readonly string[];
}

/** The stored content can be read, but its schema refuses it. The message is a clause for people. */
export class InvalidDocument extends Error {
  /** The invalid field, if any. */
  readonly key: string | undefined;
  constructor(message: string, key?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'InvalidDocument';
    this.key = key;
  }
}

/** The first problem that a schema finds, with its place: `members.0.name: expected string, received number`. */
export function invalid(cause: z.ZodError): InvalidDocument {
  const [issue] = cause.issues;
  if (issue === undefined) return new InvalidDocument('it does not fit its schema', undefined, { cause });
  const text = plainIssue(issue.message);
  const [key] = issue.path;
  if (key === undefined) return new InvalidDocument(text, undefined, { cause });
  return new InvalidDocument(`${issue.path.join('.')}: ${text}`, String(key), { cause });
}
