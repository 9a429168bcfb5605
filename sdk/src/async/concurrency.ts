import type { Clock } from '../clock.js';
import { onAbort } from './waiting.js';

/** Tasks with the same key run one after another, in the order of the calls; keys do not wait for one another. */
export interface KeyedMutex {
  /** A task that fails does not stop the next one. */
  run<T>(key: string, task: () => Promise<T>): Promise<T>;
  /**
   * Resolves with `undefined` at once when `signal` aborts before the task has begun: then it never runs, and tasks behind it still wait for those ahead. After
   * its beginning, the task has to handle the signal itself.
   */
  run<T>(key: string, task: () => Promise<T>, signal: AbortSignal): Promise<T | undefined>;
  /** Resolves when no task runs or waits. */
  idle(): Promise<void>;
}

export function createKeyedMutex(): KeyedMutex {
  const tails = new Map<string, Promise<unknown>>();

  function run<T>(key: string, task: () => Promise<T>): Promise<T>;
  function run<T>(key: string, task: () => Promise<T>, signal: AbortSignal): Promise<T | undefined>;
  function run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    const before = tails.get(key);
    return new Promise((resolve, reject) => {
      const begin = async () => {
        release();
        return signal?.aborted === true ? undefined : task();
      };
      const release = onAbort(signal, () => resolve(undefined));
      const mine = before === undefined ? begin() : before.then(begin, begin);
      tails.set(key, mine);
      const end = () => {
        if (tails.get(key) === mine) tails.delete(key);
      };
      mine.then(end, end);
      mine.then(resolve, reject);
    });
  }

  return {
    run,
    async idle() {
      while (tails.size > 0) await Promise.allSettled(tails.values());
    },
  };
}

/** Limits of concurrent work. */
export interface FairBounds {
  readonly total: number;
  /** For one guild, so that one that is busy, or hangs, leaves slots for the others. */
  readonly perGuild: number;
  /** For one member, in all guilds together; unlimited when left out. */
  readonly perMember?: number;
}

/** A request for a slot, with its guild and member. */
export interface FairClaim {
  readonly id: string;
  readonly guild: string;
  /** Within a guild, members take turns. */
  readonly member?: string;
}

/** Assigns slots in turn: by guild, within a guild by member, and for each member in the order of the requests. */
export interface FairScheduler<C extends FairClaim = FairClaim> {
  /** Adds a waiting request. Until it was assigned or removed, adding one with the same id has no effect. */
  add(claim: C): void;
  /** Removes a waiting request. `false` when it was not waiting. */
  remove(id: string): boolean;
  /** Assigns a slot to the next request that its limits allow; `undefined` when there is none. */
  take(): C | undefined;
  /** Frees the slot of a request. `false` when it had none. */
  release(id: string): boolean;
  /** Whether the request has a slot. */
  has(id: string): boolean;
  /** The waiting requests, in the order in which they would get slots if all limits allowed it. */
  waiting(): readonly C[];
}

/** @param boundsOf the limits for a request, read again for each assignment */
export function createFairScheduler<C extends FairClaim = FairClaim>(
  boundsOf: (claim: C) => FairBounds,
): FairScheduler<C> {
  /** By guild, then by member. The first entry of a map has waited longest for its turn. */
  const due = new Map<string, Map<string, C[]>>();
  const dueIds = new Map<string, C>();
  const taken = new Map<string, C>();
  const ofGuild = new Map<string, number>();
  const ofMember = new Map<string, number>();

  const fits = (claim: C): boolean => {
    const { total, perGuild, perMember = Number.POSITIVE_INFINITY } = boundsOf(claim);
    if (taken.size >= total || (ofGuild.get(claim.guild) ?? 0) >= perGuild) return false;
    return claim.member === undefined || (ofMember.get(claim.member) ?? 0) < perMember;
  };
  const count = ({ guild, member }: C, by: 1 | -1) => {
    add(ofGuild, guild, by);
    if (member !== undefined) add(ofMember, member, by);
  };
  const drop = (claim: C, queue: C[], members: Map<string, C[]>) => {
    queue.splice(queue.indexOf(claim), 1);
    if (queue.length === 0) members.delete(claim.member ?? '');
    if (members.size === 0) due.delete(claim.guild);
    dueIds.delete(claim.id);
  };

  return {
    add(claim) {
      if (dueIds.has(claim.id)) return;
      dueIds.set(claim.id, claim);
      const members = due.get(claim.guild) ?? new Map<string, C[]>();
      due.set(claim.guild, members);
      const queue = members.get(claim.member ?? '') ?? [];
      members.set(claim.member ?? '', queue);
      queue.push(claim);
    },
    remove(id) {
      const claim = dueIds.get(id);
      const members = claim && due.get(claim.guild);
      const queue = claim && members?.get(claim.member ?? '');
      if (claim === undefined || members === undefined || queue === undefined) return false;
      drop(claim, queue, members);
      return true;
    },
    take() {
      for (const [guild, members] of due) {
        for (const [member, queue] of members) {
          const claim = queue.find(fits);
          if (claim === undefined) continue;
          drop(claim, queue, members);
          toTheEnd(members, member);
          toTheEnd(due, guild);
          taken.set(claim.id, claim);
          count(claim, 1);
          return claim;
        }
      }
      return undefined;
    },
    release(id) {
      const claim = taken.get(id);
      if (claim === undefined) return false;
      taken.delete(id);
      count(claim, -1);
      return true;
    },
    has: (id) => taken.has(id),
    waiting: () => inTurn([...due.values()].map((members) => inTurn([...members.values()]))),
  };
}

/** Slots with asynchronous waiting. */
export interface FairSlots<C extends FairClaim = FairClaim> {
  /** Resolves with `true` once the request has a slot, with `false` when `signal` aborts first. A request that has a slot keeps it. */
  acquire(claim: C, signal?: AbortSignal): Promise<boolean>;
  release(id: string): void;
  has(id: string): boolean;
  waiting(): readonly C[];
}

/** @param onWaiting called when the waiting requests, or their order, may have changed */
export function createFairSlots<C extends FairClaim = FairClaim>(
  boundsOf: (claim: C) => FairBounds,
  onWaiting: () => void = () => undefined,
): FairSlots<C> {
  const scheduler = createFairScheduler(boundsOf);
  const entering = new Map<string, () => void>();
  const deal = () => {
    for (let claim = scheduler.take(); claim !== undefined; claim = scheduler.take()) entering.get(claim.id)?.();
    onWaiting();
  };
  return {
    acquire(claim, signal) {
      if (scheduler.has(claim.id)) return Promise.resolve(true);
      if (signal?.aborted === true) return Promise.resolve(false);
      return new Promise((resolve) => {
        const end = (got: boolean) => {
          signal?.removeEventListener('abort', giveUp);
          entering.delete(claim.id);
          resolve(got);
        };
        const giveUp = () => {
          if (!scheduler.remove(claim.id)) return;
          end(false);
          onWaiting();
        };
        signal?.addEventListener('abort', giveUp);
        entering.set(claim.id, () => end(true));
        scheduler.add(claim);
        deal();
      });
    },
    release(id) {
      if (scheduler.release(id)) deal();
    },
    has: scheduler.has,
    waiting: scheduler.waiting,
  };
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const next = (counts.get(key) ?? 0) + by;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
}

function toTheEnd<V>(map: Map<string, V>, key: string): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}

/** Interleaves the lists: the first of each, then the second of each, and so on. */
function inTurn<T>(queues: readonly (readonly T[])[]): readonly T[] {
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => queues.flatMap((queue) => queue.slice(at, at + 1))).flat();
}

/** Limits the number of uses by each key within a sliding window. */
export interface RateLimiter {
  /**
   * Counts a use by `key` within the window. Above the limit it counts nothing, and returns how long to wait, and whether this is the first refusal since the
   * last admitted use.
   * @param limit 0 for none
   */
  take(key: string, limit: number): { readonly waitMs: number; readonly isFirst: boolean } | undefined;
  /** How long a use by `key` would have to wait now, 0 when it would not. Counts nothing. */
  waitMs(key: string, limit: number): number;
}

/** A sliding window for each key. @param maxKeys above this number, the least recently used key is reset */
export function createRateLimiter(clock: Clock, windowMs: number, maxKeys = 10_000): RateLimiter {
  const used = new Map<string, { readonly at: readonly number[]; readonly isRefused: boolean }>();
  const keep = (key: string, at: readonly number[], isRefused: boolean) => {
    used.delete(key);
    used.set(key, { at, isRefused });
    const [oldest] = used.keys();
    if (used.size > maxKeys && oldest !== undefined) used.delete(oldest);
  };
  const recentOf = (key: string, now: number) => (used.get(key)?.at ?? []).filter((one) => one > now - windowMs);
  /** @param at the uses that count, of which there are at least `limit` */
  const wait = (at: readonly number[], limit: number, now: number) => (at[at.length - limit] ?? now) + windowMs - now;
  return {
    take(key, limit) {
      if (limit === 0) return undefined;
      const now = clock.now();
      const isRefused = used.get(key)?.isRefused === true;
      const at = recentOf(key, now);
      if (at.length < limit) {
        keep(key, [...at, now], false);
        return undefined;
      }
      keep(key, at, true);
      return { waitMs: wait(at, limit, now), isFirst: !isRefused };
    },
    waitMs(key, limit) {
      const now = clock.now();
      const at = limit === 0 ? [] : recentOf(key, now);
      return at.length === 0 || at.length < limit ? 0 : wait(at, limit, now);
    },
  };
}

/** The evidence of an attempt about the service behind the breaker. `inconclusive`: none, for instance when the caller cancelled it. */
export type Verdict = 'success' | 'failure' | 'inconclusive';

export interface CircuitBreakerOptions {
  /** Consecutive failures that open it; 5 by default. */
  readonly failures?: number;
  /** How long it stays open before an attempt is admitted as a probe; 30 s by default. */
  readonly pauseMs?: number;
  /** Called each time when it opens, also after a failed probe. */
  readonly onOpen?: () => void;
  readonly onClose?: () => void;
}

/** Blocks attempts at a service that fails, and admits one at a time to find out whether it works again. */
export interface CircuitBreaker {
  /** `half-open` while a probe is under way. */
  readonly state: 'closed' | 'open' | 'half-open';
  /** When the next attempt is admitted, in milliseconds since the Unix epoch: 0 while closed, `Infinity` during a probe. */
  readonly admitsAt: number;
  /**
   * Runs an attempt and counts its result. An error that it throws is thrown again, and is inconclusive: failures are results.
   * @throws CircuitOpenError before `admitsAt`
   */
  run<T>(attempt: () => Promise<T>, judge: (result: T) => Verdict): Promise<T>;
}

/** Thrown by `CircuitBreaker.run` while the breaker admits no attempt. */
export class CircuitOpenError extends Error {
  override readonly name = 'CircuitOpenError';
}

/**
 * Counts on the injected clock, unlike the breakers of general libraries.
 * @example
 * const breaker = createCircuitBreaker(clock, { onOpen: () => log.warn('the agent does not answer') });
 * if (clock.now() >= breaker.admitsAt) await breaker.run(send, ({ ok }) => (ok ? 'success' : 'failure'));
 */
export function createCircuitBreaker(
  clock: Clock,
  { failures = 5, pauseMs = 30_000, onOpen, onClose }: CircuitBreakerOptions = {},
): CircuitBreaker {
  let failed = 0;
  let openUntil: number | undefined;
  let isProbing = false;

  const open = () => {
    openUntil = clock.now() + pauseMs;
    onOpen?.();
  };
  const countProbe = (verdict: Verdict) => {
    isProbing = false;
    if (verdict === 'failure') return open();
    if (verdict === 'inconclusive') {
      // The next attempt may be a probe at once.
      openUntil = clock.now();
      return;
    }
    openUntil = undefined;
    failed = 0;
    onClose?.();
  };
  const count = (verdict: Verdict) => {
    if (verdict === 'success') failed = 0;
    if (verdict !== 'failure') return;
    failed += 1;
    if (failed >= failures && openUntil === undefined) open();
  };
  const breaker: CircuitBreaker = {
    get state() {
      if (isProbing) return 'half-open';
      return openUntil === undefined ? 'closed' : 'open';
    },
    get admitsAt() {
      return isProbing ? Number.POSITIVE_INFINITY : (openUntil ?? 0);
    },
    async run(attempt, judge) {
      if (clock.now() < breaker.admitsAt) throw new CircuitOpenError('the circuit is open');
      const isProbe = openUntil !== undefined;
      isProbing ||= isProbe;
      let verdict: Verdict = 'inconclusive';
      try {
        const result = await attempt();
        verdict = judge(result);
        return result;
      } finally {
        if (isProbe) countProbe(verdict);
        else count(verdict);
      }
    },
  };
  return breaker;
}

/** Makes something at the first call, and returns the same at every later one. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
