import {
  type Actor,
  type CallState,
  isOf,
  type Ledger,
  type LedgerEntry,
  type Outcome,
  type PersonalData,
  type SettledOutcome,
  type ToolRequest,
  t,
} from '@cinnabar/sdk';
import PQueue from 'p-queue';
import { failed, outcomeOf, readArguments } from './call.js';
import { createHistory, DAY_MS, KEPT_CALLS } from './ledger-store.js';
import type { ToolDependencies, ToolRegistry } from './tools.js';

type FirstRow = Omit<LedgerEntry, 'state' | 'createdAt' | 'updatedAt' | keyof RowDetails>;
/** The fields that a move adds to the row. */
export type RowDetails = Partial<Pick<LedgerEntry, 'decidedBy' | 'reason' | 'text' | 'sources' | 'share' | 'audience'>>;

interface KeyedRow {
  readonly callId: string;
  readonly row: LedgerEntry | undefined;
}

/** The record of all calls. A row is saved before it can be read, so every visible state has really been reached. */
export interface CallLedger extends Ledger {
  /** The first row of a call: `proposed`. @throws CINNABAR_STORAGE_WRITE */
  open(row: FirstRow): Promise<LedgerEntry>;
  /**
   * Compare and swap: moves the call to `to` when it is in one of the states `from`; one move of a call at a time.
   * @returns `undefined` when it is in none of these states
   * @throws CINNABAR_STORAGE_WRITE: the call has not moved then
   */
  move(callId: string, from: readonly CallState[], to: CallState, add?: RowDetails): Promise<LedgerEntry | undefined>;
  /** The call with that key, until 30 days after its end; without its row when that was damaged or forgotten. */
  byKey(key: string): Promise<KeyedRow | undefined>;
  /** The row of a running call in this process; `undefined` once it has ended. */
  running(callId: string): LedgerEntry | undefined;
  /** The ended calls that a member requested, and their removal. */
  readonly personalData: PersonalData;
  /** Archives an ended call, after its end was announced. Never rejects: failures are repeated with the next call. */
  archive(callId: string): Promise<void>;
  /**
   * Called at the start: ends calls that an earlier process has left open. Returns these, and those that it has ended but not archived: the ends of both may
   * not have been announced.
   */
  recover(): Promise<readonly LedgerEntry[]>;
  /** Removes calls that are too old, once a day, since there may be no new ones. @returns a function that stops this */
  keepPruned(): () => void;
}

export function createLedger({
  store,
  clock,
  log,
  kept = KEPT_CALLS,
}: Pick<ToolDependencies, 'store' | 'clock' | 'log' | 'kept'>): CallLedger {
  const open = new Map<string, { entry: LedgerEntry; readonly moves: PQueue }>();
  /** Calls that have ended and are not archived yet; and those of them that can be archived. */
  const ended = new Map<string, LedgerEntry>();
  const due = new Set<string>();
  /** One task at a time, so that no archived document is written after it was erased. */
  const archiving = new PQueue({ concurrency: 1 });
  const history = createHistory(store, clock, log, kept);

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
    // Waits for a pending move, whose state the caller must see.
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
    const running = [...open.values()].map((call) => call.entry);
    return history.recent([...running, ...ended.values()], filter);
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
    running: (callId) => open.get(callId)?.entry,
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
      // The call was refused before it had a row, or was archived when its member deleted their data.
      if (!ended.has(callId)) return;
      due.add(callId);
      try {
        for (const id of [...due]) await archiveNow(id);
      } catch (error) {
        log.warn('an ended call could not be archived yet', { callId, error });
      }
    },
    async recover() {
      await store.finishRewrites();
      const left = (await store.unarchived()).filter(({ id }) => !open.has(id) && !ended.has(id));
      for (const entry of left) {
        const resolved = resolveAfterRestart(entry, clock.now());
        if (resolved !== entry) await store.save(resolved);
        ended.set(entry.id, resolved);
      }
      await history.prune();
      return left.flatMap(({ id }) => ended.get(id) ?? []);
    },
    keepPruned() {
      let cancel = () => {};
      const wait = () => {
        cancel = clock.after(DAY_MS, () => {
          wait();
          archiving
            .add(history.prune)
            .catch((error: unknown) => log.warn('old calls could not be removed from the ledger', { error }));
        });
      };
      wait();
      return () => cancel();
    },
  };
}

/** The row of a call after a restart. The last written state was reached; no later one is assumed. */
function resolveAfterRestart(entry: LedgerEntry, updatedAt: number): LedgerEntry {
  if (isFinal(entry.state)) return entry;
  const state = afterRestart(entry.state);
  const reason =
    state === 'unknown'
      ? 'the bot stopped while this was running: it is not known whether it took effect'
      : 'the bot was restarted before this was run, so it was not run';
  return { ...entry, state, reason, updatedAt };
}

/**
 * The possible transitions of each state. Running needs `executing`, to which no transition leads back: so a call runs at most once. A state without
 * transitions is final.
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

const mayFollow = (from: CallState, to: CallState): boolean => TRANSITIONS[from].includes(to);

/** The state of a call after its process ended: one that did not run has expired; whether a running one took effect is unknown. */
export function afterRestart(state: CallState): CallState {
  if (isFinal(state)) return state;
  return state === 'executing' ? 'unknown' : 'expired';
}

/** The idempotency key of one attempt of a call. */
export const idempotencyKeyOf = ({ key, attempt = 1 }: ToolRequest): string | undefined =>
  key === undefined ? undefined : `${key}#${attempt}`;

/**
 * Makes a function that makes a call with a key once. A repeated request gets the outcome of the first: from memory while it runs, from the ledger afterwards.
 */
export function createIdempotency(ledger: Pick<CallLedger, 'byKey'>, registry: Pick<ToolRegistry, 'get'>) {
  const inFlight = new Map<string, { readonly request: ToolRequest; readonly outcome: Promise<Outcome> }>();

  const hashIn = async ({ name, arguments: given }: ToolRequest) => {
    const definition = registry.get(name)?.definition;
    // The arguments can no longer be parsed when the tool is gone.
    if (definition === undefined) return 'gone';
    const read = await readArguments(definition.input, given);
    return read.ok ? read.hash : undefined;
  };

  const fits = async (row: LedgerEntry, request: ToolRequest) => {
    if (row.tool !== request.name || !isSameActor(row.actor, request.actor)) return false;
    const hash = await hashIn(request);
    return hash === row.argumentsHash || hash === 'gone';
  };

  const isSameRequest = async (one: ToolRequest, other: ToolRequest) =>
    one.name === other.name && isSameActor(one.actor, other.actor) && (await hashIn(one)) === (await hashIn(other));

  const earlier = async (key: string, request: ToolRequest): Promise<Outcome | undefined> => {
    const known = await ledger.byKey(key);
    if (known === undefined) return (request.attempt ?? 1) > 1 ? refusalOfAttempt(request) : undefined;
    const { callId, row } = known;
    // The outcome is damaged or deleted. The call must not be made again, since it may have taken effect.
    if (row === undefined) return failed(callId, 'CINNABAR_TOOL_UNKNOWN_OUTCOME', { tool: request.name });
    return (await fits(row, request)) ? outcomeOf(row) : belongsToAnother(request);
  };

  /** Refuses a further attempt, unless the previous one cannot have had an effect, or the tool is idempotent. */
  async function refusalOfAttempt(request: ToolRequest): Promise<SettledOutcome | undefined> {
    const before = await ledger.byKey(idempotencyKeyOf({ ...request, attempt: (request.attempt ?? 1) - 1 }) ?? '');
    if (before === undefined) return refused(request, t('there is no attempt before this one'));
    const { row } = before;
    if (row !== undefined && !(await fits(row, request))) return belongsToAnother(request);
    const { state } = row ?? { state: 'unknown' };
    const notRun = state === 'expired' || state === 'denied';
    const repeatable = state === 'unknown' && registry.get(request.name)?.info.idempotent === true;
    return notRun || repeatable ? undefined : refused(request, t('the attempt before this one is {state}', { state }));
  }

  /** Makes the call, or finds its earlier outcome, and removes the key from memory at the end: a later request is answered from the ledger. */
  const answer = async (key: string, request: ToolRequest, invoke: () => Promise<Outcome>): Promise<Outcome> => {
    const over = () => inFlight.delete(key);
    try {
      const known = (await earlier(key, request)) ?? (await invoke());
      if (known.status === 'deferred') void known.settled.finally(over);
      else over();
      return known;
    } catch (error) {
      over();
      throw error;
    }
  };

  return async function once(request: ToolRequest, invoke: () => Promise<Outcome>): Promise<Outcome> {
    const key = idempotencyKeyOf(request);
    if (key === undefined) return invoke();
    const { attempt = 1 } = request;
    if (!Number.isInteger(attempt) || attempt < 1) return refused(request, t('attempts are counted from 1'));
    const same = inFlight.get(key);
    if (same !== undefined) {
      return (await isSameRequest(same.request, request)) ? same.outcome : belongsToAnother(request);
    }
    const outcome = answer(key, request, invoke);
    inFlight.set(key, { request, outcome });
    return outcome;
  };
}

const refused = ({ name }: ToolRequest, detail: string): SettledOutcome =>
  failed('', 'CINNABAR_TOOL_KEY', { tool: name, detail });

const belongsToAnother = (request: ToolRequest) => refused(request, t('it belongs to another call'));

/** An agent stays the same agent in every guild; the user who granted it access may differ. */
function isSameActor(one: Actor, other: Actor): boolean {
  if (one.identity !== other.identity) return false;
  return one.identity !== undefined || (one.userId === other.userId && one.guildId === other.guildId);
}
