import {
  type CallState,
  type Clock,
  isOf,
  type Ledger,
  type LedgerEntry,
  type Logger,
  type PersonalData,
} from '@cinnabar/sdk';
import PQueue from 'p-queue';
import { createHistory, KEPT_CALLS, type KeptCalls } from './history.js';

interface LedgerParts {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly kept?: KeptCalls;
}

type FirstRow = Omit<LedgerEntry, 'state' | 'createdAt' | 'updatedAt' | keyof RowDetails>;
/** What a move adds to the row. */
export type RowDetails = Partial<Pick<LedgerEntry, 'decidedBy' | 'reason' | 'text' | 'sources' | 'share' | 'audience'>>;

interface KeyedRow {
  readonly callId: string;
  readonly row: LedgerEntry | undefined;
}

/** The book of calls. Rows are saved before they are seen, so what it says has always happened. */
export interface CallLedger extends Ledger {
  /** The first row of a call: `proposed`. @throws CINNABAR_STORAGE_WRITE */
  open(row: FirstRow): Promise<LedgerEntry>;
  /**
   * Compare and swap: takes the call to `to` when it is in one of the states `from`, one move of a call at a time.
   * `undefined` when it is not (any more). @throws CINNABAR_STORAGE_WRITE, and nothing has moved
   */
  move(callId: string, from: readonly CallState[], to: CallState, add?: RowDetails): Promise<LedgerEntry | undefined>;
  /** The call with that key, until 30 days after its end; without its row when that was damaged or forgotten. */
  byKey(key: string): Promise<KeyedRow | undefined>;
  /** The row of a call under way in this process; `undefined` once it has ended. */
  underWay(callId: string): LedgerEntry | undefined;
  /** What one person asked for, and its removal: all that has ended. */
  readonly personalData: PersonalData;
  /** Puts an ended call away, once those that listen for ends have been told. Never rejects: what fails is repeated with the next. */
  archive(callId: string): Promise<void>;
  /**
   * At start: ends what an earlier process left open. Returns it, with what that process ended but did not archive: of both, those that listen
   * for ends may not have been told.
   */
  recover(): Promise<readonly LedgerEntry[]>;
}

export function createLedger({ store, clock, log, kept = KEPT_CALLS }: LedgerParts): CallLedger {
  const open = new Map<string, { entry: LedgerEntry; readonly moves: PQueue }>();
  /** Calls that have ended and are not archived yet; and those of them that may be. */
  const ended = new Map<string, LedgerEntry>();
  const due = new Set<string>();
  /** One at a time: a copy must not be written again after it was erased. */
  const archiving = new PQueue({ concurrency: 1 });
  const history = createHistory({ store, clock, log, kept });

  const move = async (callId: string, from: readonly CallState[], to: CallState, add: RowDetails = {}) => {
    const call = open.get(callId);
    return call?.moves.add(async () => {
      const { entry } = call;
      if (!from.includes(entry.state) || !mayFollow(entry.state, to)) return undefined;
      const next: LedgerEntry = Object.freeze({ ...entry, ...add, state: to, updatedAt: clock.now() });
      await store.save(next);
      call.entry = next;
      if (isFinal(to)) {
        open.delete(callId);
        ended.set(callId, next);
      }
      return next;
    });
  };

  const get: Ledger['get'] = async (callId) => {
    // A move that has begun counts: who asks now must not be told the state before it.
    await open.get(callId)?.moves.onIdle();
    return open.get(callId)?.entry ?? ended.get(callId) ?? (await store.get(callId));
  };

  const archiveNow = (callId: string) =>
    archiving.add(async () => {
      const entry = ended.get(callId);
      if (entry !== undefined) await store.archive(entry);
      due.delete(callId);
      if (!ended.delete(callId)) return;
      await history.added();
    });

  const recent: Ledger['recent'] = (filter) => {
    const underWay = [...open.values()].map((call) => call.entry);
    return history.recent([...underWay, ...ended.values()], filter);
  };

  return {
    async open(row) {
      const now = clock.now();
      const entry: LedgerEntry = Object.freeze({ ...row, state: 'proposed', createdAt: now, updatedAt: now });
      await store.save(entry);
      open.set(row.id, { entry, moves: new PQueue({ concurrency: 1 }) });
      return entry;
    },
    move,
    underWay: (callId) => open.get(callId)?.entry,
    get,
    async byKey(key) {
      const callId = await store.byKey(key);
      return callId === undefined ? undefined : { callId, row: await get(callId) };
    },
    recent,
    personalData: {
      export: (userId) => recent({ userId, limit: Number.POSITIVE_INFINITY }),
      async forget(userId) {
        for (const { id, actor, sources } of [...ended.values()]) {
          if (actor.userId === userId || isOf(sources, userId)) await archiveNow(id);
        }
        await history.forget(userId);
      },
    },
    async archive(callId) {
      // Refused before it had a row, or put away already when its member had it forgotten.
      if (!ended.has(callId)) return;
      due.add(callId);
      try {
        for (const id of [...due]) await archiveNow(id);
      } catch (error) {
        log.warn('an ended call could not be archived yet', { callId, error });
      }
    },
    async recover() {
      const left = (await store.unarchived()).filter(({ id }) => !open.has(id) && !ended.has(id));
      for (const entry of left) {
        const resolved = resolveAfterRestart(entry, clock.now());
        if (resolved !== entry) await store.save(resolved);
        ended.set(entry.id, resolved);
      }
      await history.prune();
      return left.flatMap(({ id }) => ended.get(id) ?? []);
    },
  };
}

/** What was written last has happened; what was not is not guessed. */
function resolveAfterRestart(entry: LedgerEntry, updatedAt: number): LedgerEntry {
  if (isFinal(entry.state)) return entry;
  const state = afterRestart(entry.state);
  const reason =
    state === 'unknown'
      ? 'the bot stopped while this was running: nobody knows whether it took effect'
      : 'the bot was restarted before this was run, so it was not run';
  return { ...entry, state, reason, updatedAt };
}

/**
 * Where a call can go from each state. Running needs `executing`, which nothing leads back to: that is why a call runs
 * at most once. A state that leads nowhere is final.
 */
export const TRANSITIONS: Readonly<Record<CallState, readonly CallState[]>> = {
  proposed: ['pending', 'executing', 'denied', 'expired', 'failed'],
  pending: ['approved', 'denied', 'expired', 'failed'],
  approved: ['executing', 'denied', 'expired', 'failed'],
  executing: ['done', 'failed', 'unknown'],
  done: [],
  failed: [],
  denied: [],
  expired: [],
  unknown: [],
};

export const isFinal = (state: CallState): boolean => TRANSITIONS[state].length === 0;

export const mayFollow = (from: CallState, to: CallState): boolean => TRANSITIONS[from].includes(to);

/** What a call becomes whose process ended: before it ran it has expired; while it ran, nobody knows. */
export function afterRestart(state: CallState): CallState {
  if (isFinal(state)) return state;
  return state === 'executing' ? 'unknown' : 'expired';
}

/** Where calls are kept. Every method resolves once it is on the disk. */
export interface LedgerStore {
  /** The calls that have not been archived: those that had not ended, and those that an earlier process ended last. */
  unarchived(): Promise<readonly LedgerEntry[]>;
  /** One write: whenever the process dies, the call is in the state before or in this one. */
  save(entry: LedgerEntry): Promise<void>;
  /** Puts a call that has ended among the others that have. Changes nothing of what is known of it, and may be repeated. */
  archive(entry: LedgerEntry): Promise<void>;
  /** The id of the latest call with that key. Its row may be lost or forgotten; without an id there has been none. */
  byKey(key: string): Promise<string | undefined>;
  get(callId: string): Promise<LedgerEntry | undefined>;
  /** Ids of the archived calls, the oldest first: ids sort by time. */
  archived(): Promise<readonly string[]>;
  /** When an archived call has ended, also one that was erased; ms since the epoch. */
  endedAt(callId: string): Promise<number | undefined>;
  /** Removes an archived call, and its key. */
  remove(callId: string): Promise<void>;
  /** Writes an archived call anew, with no copy of what it said before. */
  rewrite(entry: LedgerEntry): Promise<void>;
  /** Removes all that an archived call says, with every copy of it. Its key stays taken until `remove`. */
  erase(callId: string): Promise<void>;
}
