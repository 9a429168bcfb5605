import { createHash } from 'node:crypto';
import {
  CALL_STATES,
  type Clock,
  FORGOTTEN,
  isOf,
  type Ledger,
  type LedgerEntry,
  type Logger,
  toolSource,
  z,
} from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import { DamagedDocument, type DocumentPath, type Driver } from '../storage/driver.js';
import type { SubjectIndex } from '../storage/subjects.js';

const VERSION = 1;
const OPEN: DocumentPath = ['@host', 'ledger', 'open'];
const ENDED: DocumentPath = ['@host', 'ledger', 'ended'];
const REPLACING: DocumentPath = ['@host', 'ledger', 'replacing'];

const rowSchema: z.ZodType<LedgerEntry> = z.object({
  id: z.string(),
  tool: z.string(),
  plugin: z.string(),
  origin: z.string(),
  input: z.record(z.string(), z.unknown()),
  argumentsHash: z.string(),
  actor: z.object({
    userId: z.string(),
    guildId: z.string().nullable(),
    channelId: z.string(),
    identity: z.string().exactOptional(),
  }),
  key: z.string().exactOptional(),
  messageId: z.string().exactOptional(),
  state: z.enum(CALL_STATES),
  createdAt: z.number(),
  updatedAt: z.number(),
  decidedBy: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  text: z.string().exactOptional(),
  sources: z.array(toolSource).exactOptional(),
  share: z.literal('here').exactOptional(),
  audience: z.literal('requester').exactOptional(),
});

/** The remaining data of a deleted call, kept as long as its row would be, so that its key is not accepted for a new call. */
const forgottenSchema = z.strictObject({ keyName: z.string(), updatedAt: z.number() });
type Forgotten = z.output<typeof forgottenSchema>;
const documentSchema = z.union([rowSchema, forgottenSchema]);

/**
 * Stores one document for each call, below `open` until it is archived: until then only this document determines the state of the call. Archived calls are
 * below `ended`, so that a start reads only the calls that it has to resolve. Before an archived document is rewritten, its copies have to be erased. It is
 * written below `replacing` first, so that a process that ends in between does not lose it.
 */
export function createLedgerStore(driver: Driver, log: Logger, subjects: SubjectIndex) {
  const read = async (path: DocumentPath, again = true): Promise<LedgerEntry | Forgotten | undefined> => {
    try {
      const stored = await driver.read(path);
      return stored === undefined ? undefined : documentSchema.parse(stored.data);
    } catch (error) {
      if (!(error instanceof DamagedDocument || error instanceof z.ZodError)) throw error;
      const place = await driver.setAside(path);
      log.error('a call in the ledger could not be read and was put aside', { path: path.join('/'), place, error });
      return again ? read(path, false) : undefined;
    }
  };

  const idsBelow = async (prefix: DocumentPath) =>
    (await driver.list(prefix)).flatMap((path) => path.slice(prefix.length, prefix.length + 1));

  const readRow = async (path: DocumentPath): Promise<LedgerEntry | undefined> => {
    const found = await read(path);
    return found === undefined || 'keyName' in found ? undefined : found;
  };

  const get = async (callId: string): Promise<LedgerEntry | undefined> => {
    const open = await readRow([...OPEN, callId]);
    const ended = (await readRow([...ENDED, callId])) ?? (await readRow([...REPLACING, callId]));
    // Both exist when a process died while archiving. The newer one counts, since earlier versions could archive an end that was not reached.
    if (open === undefined || ended === undefined) return open ?? ended;
    return open.updatedAt > ended.updatedAt ? open : ended;
  };

  const finishReplacing = async (callId: string, data: LedgerEntry | Forgotten) => {
    await driver.erase([...ENDED, callId]);
    await driver.write([...ENDED, callId], { version: VERSION, data });
    await driver.erase([...REPLACING, callId]);
  };

  const replace = async (callId: string, data: LedgerEntry | Forgotten) => {
    await driver.write([...REPLACING, callId], { version: VERSION, data });
    await finishReplacing(callId, data);
  };

  const keys = createKeyStore(driver, log, async (keyName) => {
    for (const folder of [OPEN, ENDED, REPLACING]) {
      for (const id of (await idsBelow(folder)).sort().reverse()) {
        if (keyNameIn(await read([...folder, id])) === keyName) return id;
      }
    }
    return undefined;
  });

  return {
    /** The calls that are not archived: those that have not ended, and the last ones that an earlier process has ended. */
    async unarchived(): Promise<readonly LedgerEntry[]> {
      const rows = await Promise.all((await idsBelow(OPEN)).map(get));
      return rows.filter((row) => row !== undefined);
    },
    /** Saves a state with one write: after a crash at any time, the call is in the previous state or in this one. */
    async save(entry: LedgerEntry): Promise<void> {
      await driver.write([...OPEN, entry.id], { version: VERSION, data: entry });
      // The key is written after the row, and before the call can run. So a key without a row belongs to a call whose row was lost.
      if (entry.state === 'proposed' && entry.key !== undefined) await keys.write(keyNameOf(entry.key), entry.id);
    },
    /** Moves an ended call to the archive. Changes none of its data, and may be repeated. */
    async archive(entry: LedgerEntry): Promise<void> {
      await subjects.note([...ENDED, entry.id], subjectsOf(entry));
      await driver.write([...ENDED, entry.id], { version: VERSION, data: entry });
      await driver.delete([...OPEN, entry.id]);
    },
    get,
    /** Ids of the archived calls, the oldest first: ids sort by time. */
    archived: async (): Promise<readonly string[]> => (await idsBelow(ENDED)).sort(),
    /** Ids of the archived calls that a member requested, or in a server; some may be deleted or erased. */
    async archivedOf(id: string): Promise<readonly string[]> {
      await subjects.complete('ledger', async function* () {
        for (const callId of await idsBelow(ENDED)) {
          const path = [...ENDED, callId];
          const row = await readRow(path);
          if (row !== undefined) yield [path, subjectsOf(row)];
        }
      });
      return (await subjects.keysBelow(id, ENDED)).toSorted();
    },
    /** When an archived call has ended, also for an erased one; ms since the epoch. */
    endedAt: async (callId: string): Promise<number | undefined> => (await read([...ENDED, callId]))?.updatedAt,
    /** The id of the latest call with that key, whose row may be lost or forgotten; `undefined` when there was no such call. */
    byKey: (key: string): Promise<string | undefined> => keys.find(keyNameOf(key)),
    /** Removes an archived call, and its key. */
    async remove(callId: string): Promise<void> {
      const keyName = keyNameIn(await read([...ENDED, callId]));
      if (keyName !== undefined) await keys.release(keyName, callId);
      await driver.delete([...ENDED, callId]);
    },
    /** Rewrites an archived call, without keeping copies of its previous content. */
    rewrite: (entry: LedgerEntry): Promise<void> => replace(entry.id, entry),
    /** Removes the content of an archived call, with every copy. Its key stays reserved until `remove`. */
    async erase(callId: string): Promise<void> {
      const path = [...ENDED, callId];
      const found = await read(path);
      const keyName = keyNameIn(found);
      if (found === undefined || keyName === undefined) return driver.erase(path);
      await replace(callId, { keyName, updatedAt: found.updatedAt });
    },
    /** Completes each `rewrite` and `erase` that failed, or that an earlier process did not complete. */
    async finishRewrites(): Promise<void> {
      for (const id of await idsBelow(REPLACING)) {
        const found = await read([...REPLACING, id]);
        if (found === undefined) await driver.erase([...REPLACING, id]);
        else await finishReplacing(id, found);
      }
    },
  };
}

/** Every method resolves once its change is on the disk. */
export type LedgerStore = ReturnType<typeof createLedgerStore>;

/** The member or server by which an archived call is looked up. */
const subjectsOf = ({ actor }: LedgerEntry): readonly string[] =>
  actor.guildId === null ? [actor.userId] : [actor.userId, actor.guildId];

function keyNameIn(found: LedgerEntry | Forgotten | undefined): string | undefined {
  if (found === undefined) return undefined;
  if ('keyName' in found) return found.keyName;
  return found.key === undefined ? undefined : keyNameOf(found.key);
}

const KEY_VERSION = 1;
const KEYS: DocumentPath = ['@host', 'ledger', 'keys'];
const keySchema = z.object({ callId: z.string() });
/** The id of a call of which only the key is known. */
const NO_LONGER_KNOWN = '?';

/** The SHA-256 of a key. Outside of rows only this is stored, since a key is free text that may be long or contain personal data. */
const keyNameOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Stores the call of each key, in one document for each key. A key is stored here only after its call has a row. */
function createKeyStore(
  driver: Driver,
  log: Logger,
  /** Finds the id of the latest call whose row has the key. Slow: used when the key's own document cannot be read. */
  search: (keyName: string) => Promise<string | undefined>,
) {
  const write = (keyName: string, callId: string) =>
    driver.write([...KEYS, keyName], { version: KEY_VERSION, data: { callId } });

  const find = async (keyName: string): Promise<string | undefined> => {
    const path = [...KEYS, keyName];
    try {
      const stored = await driver.read(path);
      return stored === undefined ? undefined : keySchema.parse(stored.data).callId;
    } catch (error) {
      if (!(error instanceof DamagedDocument || error instanceof z.ZodError)) throw error;
      // The key stays reserved in any case: accepting it for a new call would repeat the earlier one.
      const callId = (await search(keyName)) ?? NO_LONGER_KNOWN;
      const place = await driver.setAside(path);
      await write(keyName, callId);
      log.error('the key of a call could not be read and was put aside', {
        path: path.join('/'),
        place,
        callId,
        error,
      });
      return callId;
    }
  };

  return {
    find,
    write,
    /** Removes a key together with its call, unless a later call has it. */
    async release(keyName: string, callId: string): Promise<void> {
      if ((await find(keyName)) === callId) await driver.erase([...KEYS, keyName]);
    },
  };
}

/** The time for which ended calls are kept, and their maximum number. */
export interface KeptCalls {
  readonly days: number;
  readonly calls: number;
}

export const KEPT_CALLS: KeptCalls = { days: 30, calls: 10_000 };
export const DAY_MS = 24 * 60 * 60 * 1000;
/** The number of archived calls between two prunings, each of which lists a folder. */
const PRUNE_EVERY = 100;
const READ_AT_ONCE = 100;
/** The number of cached calls: the audit of a server reads the same ones each time. */
const MOST_CACHED = 1_000;

/** The archived calls: looked up newest first, and pruned. */
export function createHistory(
  store: Pick<
    LedgerStore,
    'archived' | 'archivedOf' | 'endedAt' | 'erase' | 'finishRewrites' | 'rewrite' | 'get' | 'remove'
  >,
  clock: Clock,
  log: Logger,
  kept = KEPT_CALLS,
) {
  let sincePruned = 0;
  const cached = new LRUCache<string, LedgerEntry>({ max: MOST_CACHED });
  /** Counts rewritings: a value that was read before one must not be cached after it. */
  let rewritings = 0;
  const dropCached = () => {
    rewritings += 1;
    cached.clear();
  };

  const tooOld = async (callId: string) => {
    const endedAt = await store.endedAt(callId);
    return endedAt === undefined || endedAt < clock.now() - kept.days * DAY_MS;
  };

  const prune = async () => {
    sincePruned = 0;
    const ids = await store.archived();
    for (const [index, id] of ids.entries()) {
      const excess = ids.length - index > kept.calls;
      // Ids sort by time: the first one to keep ends the pruning.
      if (!excess && !(await tooOld(id))) return;
      cached.delete(id);
      await store.remove(id);
    }
  };

  return {
    prune,
    /** Counts an archived call and prunes from time to time. Never rejects: the call itself is already written. */
    async added(): Promise<void> {
      sincePruned += 1;
      if (sincePruned < PRUNE_EVERY) return;
      try {
        await prune();
      } catch (error) {
        log.warn('old calls could not be removed from the ledger', { error });
      }
    },
    /** The latest calls that match a filter, the newest first. @param others calls that are not archived yet */
    async recent(
      others: readonly LedgerEntry[],
      filter: Parameters<Ledger['recent']>[0],
    ): Promise<readonly LedgerEntry[]> {
      const wanted = (entry: LedgerEntry) =>
        (filter.userId === undefined || entry.actor.userId === filter.userId) &&
        (filter.guildId === undefined || entry.actor.guildId === filter.guildId);
      const found = others.filter(wanted);
      const ids = new Set(others.map(({ id }) => id));
      const enough = found.length + filter.limit;
      const of = filter.userId ?? filter.guildId;
      for await (const entry of newestOf(await (of === undefined ? store.archived() : store.archivedOf(of)))) {
        if (found.length >= enough) break;
        if (wanted(entry) && !ids.has(entry.id)) found.push(entry);
      }
      return found.sort(newestFirst).slice(0, filter.limit);
    },
    /** Removes the calls that one person requested. Running calls continue, and are kept. */
    async forget(userId: string): Promise<void> {
      await store.finishRewrites();
      try {
        for await (const entry of newestOf(await store.archived())) {
          if (entry.actor.userId === userId) await store.erase(entry.id);
          else if (isOf(entry.sources, userId)) await store.rewrite(withoutWords(entry));
        }
      } finally {
        dropCached();
      }
    },
  };

  /** Reads calls, the newest first, in batches. @param oldestFirst their ids */
  async function* newestOf(oldestFirst: readonly string[]): AsyncGenerator<LedgerEntry> {
    const ids = oldestFirst.toReversed();
    for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
      const read = await Promise.all(ids.slice(at, at + READ_AT_ONCE).map(lookUp));
      yield* read.filter((entry) => entry !== undefined);
    }
  }

  async function lookUp(id: string): Promise<LedgerEntry | undefined> {
    const known = cached.get(id);
    if (known !== undefined) return known;
    const before = rewritings;
    const entry = await store.get(id);
    if (entry !== undefined && before === rewritings) cached.set(id, entry);
    return entry;
  }
}

/** The row of a call without its text and sources; that the call was made is kept. */
function withoutWords({ sources: _sources, ...entry }: LedgerEntry): LedgerEntry {
  return { ...entry, text: FORGOTTEN };
}

const newestFirst = (a: LedgerEntry, b: LedgerEntry) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
