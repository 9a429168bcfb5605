import { type Clock, createFairScheduler, type FairBounds, type Logger } from '@cinnabar/sdk';

/** What to do with a channel after it was served. */
export type ServeResult =
  | { readonly is: 'again' }
  /** An attempt was made; more events may wait. */
  | { readonly is: 'attempted' }
  /** In milliseconds since the Unix epoch; `Infinity` until `wake`. */
  | { readonly is: 'wait'; readonly until: number }
  /** The channel has no events. */
  | { readonly is: 'idle' };

/** A fault of the queue that the watchdog has corrected. */
export interface Stall {
  readonly channelId: string;
  readonly problem: 'no worker' | 'not woken' | 'attempt does not end';
}

interface DispatcherOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly bound: () => FairBounds;
  readonly serve: (channelId: string) => Promise<ServeResult>;
  /** The guild in whose share a channel is served; `undefined` for a channel without events. */
  readonly guildOf: (channelId: string) => string | undefined;
  /** All channels with events. */
  readonly channels: () => Iterable<string>;
  /** Maximum time for serving a channel once; read when the watchdog checks. */
  readonly limitMs: (channelId: string) => number;
  /** Aborts the channel's running attempt. */
  readonly interrupt: (channelId: string, reason: Error) => void;
  readonly onStall: (stall: Stall) => void;
}

interface WorkerSlot {
  readonly guild: string;
  state: 'due' | 'served' | 'waiting';
  /** Milliseconds since the Unix epoch. */
  since: number;
  /** `wake` was called while the channel was served. */
  woken: boolean;
  /** The watchdog made the channel due, not a wake-up or timer. */
  rechecked: boolean;
  stopTimer: () => void;
}

/** Delay after an error of the host, such as settings that cannot be read. */
const AFTER_ERROR_MS = 5_000;
/** Interval of the watchdog; also the maximum time that a channel waits to be woken. */
const WATCH_MS = 60_000;
const nothing = () => undefined;

/**
 * Serves the channels that have events: one attempt at a time for each, several channels concurrently, guilds in turn.
 *
 * Invariant: a channel with events has a slot, and its slot is due, is being served, or waits for a time or for `wake`. It is checked after each transition of
 * the channel. The watchdog checks all channels, corrects violations, and reports them.
 */
export function createDispatcher(options: DispatcherOptions) {
  const { clock, log, bound, serve, guildOf, channels, limitMs, interrupt, onStall } = options;
  const scheduler = createFairScheduler(bound);
  const slots = new Map<string, WorkerSlot>();
  const running = new Set<Promise<void>>();
  let stopped = false;
  let stopWatch: (() => void) | undefined;

  const report = (channelId: string, problem: Stall['problem']) => {
    log.error('the queue of the relay stood still for a channel', { channelId, problem });
    onStall({ channelId, problem });
  };

  const makeDue = (channelId: string, slot: WorkerSlot) => {
    slot.stopTimer();
    slot.stopTimer = nothing;
    slot.state = 'due';
    slot.since = clock.now();
    scheduler.add({ id: channelId, guild: slot.guild });
  };

  const waitUntil = (channelId: string, slot: WorkerSlot, until: number) => {
    slot.state = 'waiting';
    slot.since = clock.now();
    if (until === Number.POSITIVE_INFINITY) return;
    slot.stopTimer = clock.after(Math.max(0, until - clock.now()), () => {
      makeDue(channelId, slot);
      dispatch();
    });
  };

  const afterService = (channelId: string, slot: WorkerSlot, next: ServeResult) => {
    if (slot.rechecked && next.is === 'attempted') report(channelId, 'not woken');
    slot.rechecked = false;
    if (next.is === 'wait' && !slot.woken) return waitUntil(channelId, slot, next.until);
    if (next.is !== 'idle' || slot.woken) return makeDue(channelId, slot);
    slots.delete(channelId);
    ensureSlot(channelId);
  };

  const serveOne = async (channelId: string, slot: WorkerSlot) => {
    slot.state = 'served';
    slot.since = clock.now();
    slot.woken = false;
    const next = await serve(channelId).catch((error: unknown): ServeResult => {
      log.error('a channel of the relay could not be served', { channelId, error });
      return { is: 'wait', until: clock.now() + AFTER_ERROR_MS };
    });
    scheduler.release(channelId);
    if (stopped) return;
    afterService(channelId, slot, next);
    dispatch();
  };

  const dispatch = () => {
    for (let taken = scheduler.take(); taken !== undefined; taken = scheduler.take()) {
      const { id: channelId } = taken;
      const slot = slots.get(channelId);
      if (slot === undefined) scheduler.release(channelId);
      else {
        const served = serveOne(channelId, slot).finally(() => running.delete(served));
        running.add(served);
      }
    }
  };

  /** Ensures the invariant for one channel. @returns its slot, which is created if necessary; `undefined` for a channel without events */
  const ensureSlot = (channelId: string): WorkerSlot | undefined => {
    const known = slots.get(channelId);
    const guild = guildOf(channelId);
    if (known !== undefined || guild === undefined) return known;
    const slot: WorkerSlot = {
      guild,
      state: 'waiting',
      since: clock.now(),
      woken: false,
      rechecked: false,
      stopTimer: nothing,
    };
    slots.set(channelId, slot);
    makeDue(channelId, slot);
    watchLater();
    return slot;
  };

  const wakeSlot = (channelId: string, slot: WorkerSlot) => {
    slot.rechecked = false;
    if (slot.state === 'served') slot.woken = true;
    else if (slot.state === 'waiting') makeDue(channelId, slot);
  };

  const watchLater = () => {
    if (stopped) return;
    stopWatch ??= clock.after(WATCH_MS, () => {
      stopWatch = undefined;
      watch();
      if (slots.size > 0) watchLater();
    });
  };

  const watch = () => {
    for (const channelId of channels()) {
      if (slots.has(channelId)) continue;
      report(channelId, 'no worker');
      ensureSlot(channelId);
    }
    for (const [channelId, slot] of slots) {
      const forMs = clock.now() - slot.since;
      if (slot.state === 'waiting' && slot.stopTimer === nothing && forMs >= WATCH_MS) {
        makeDue(channelId, slot);
        slot.rechecked = true;
      } else if (slot.state === 'served' && forMs >= limitMs(channelId)) {
        slot.since = clock.now();
        report(channelId, 'attempt does not end');
        interrupt(channelId, new Error('the attempt took longer than any may'));
      }
    }
    dispatch();
  };

  return {
    /** To be called after a change of the channel, which is served now, or after its current attempt. */
    wake(channelId: string): void {
      if (stopped) return;
      const slot = ensureSlot(channelId);
      if (slot !== undefined) wakeSlot(channelId, slot);
      dispatch();
    },
    /** The same for all channels with events. */
    wakeAll(): void {
      if (stopped) return;
      for (const [channelId, slot] of slots) wakeSlot(channelId, slot);
      dispatch();
    },
    /** Starts no other service. Resolves when no channel is being served. */
    async stop(): Promise<void> {
      stopped = true;
      stopWatch?.();
      for (const { stopTimer } of slots.values()) stopTimer();
      await Promise.all(running);
    },
  };
}
