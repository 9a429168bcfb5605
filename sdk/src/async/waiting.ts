import type { Clock } from '../clock.js';

/* Waits for time, signals and work, on the injected clock. No function leaves a timer or a listener after it has ended, since signals may live long. */

/** Calls `listener` once when the signal aborts, immediately when it has aborted already. Returns a function that removes it. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal?.aborted === true) listener();
  else signal?.addEventListener('abort', listener, { once: true });
  return () => signal?.removeEventListener('abort', listener);
}

/** Resolves with `true` after `delayMs`, or with `false` as soon as `signal` aborts. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      release();
      resolve(signal?.aborted !== true);
    };
    const cancel = clock.after(delayMs, end);
    const release = onAbort(signal, end);
  });
}

/**
 * One signal that aborts when any of `sources` aborts, with the same reason. Call `release` when the work has ended: `AbortSignal.any` would keep the
 * listeners.
 */
export function linkSignals(...sources: readonly AbortSignal[]): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const removals = sources.map((source) => onAbort(source, () => controller.abort(source.reason)));
  return {
    signal: controller.signal,
    release() {
      for (const remove of removals) remove();
    },
  };
}

/** A time limit for some work, as `createDeadline` makes it. */
export interface Deadline {
  /** Aborts when the time is over, or when one of the signals aborts; then with the reason of that signal. */
  readonly signal: AbortSignal;
  /** Whether it aborted because the time is over. */
  readonly isUp: boolean;
  /** Restarts the time, for instance after a heartbeat. */
  restart(): void;
  end(): void;
}

/** A signal that ends work after `afterMs`. Call `end` when the work is over. */
export function createDeadline(clock: Clock, afterMs: number, signals: readonly AbortSignal[]): Deadline {
  const controller = new AbortController();
  let isUp = false;
  const linked = linkSignals(...signals, controller.signal);
  const start = () =>
    clock.after(afterMs, () => {
      isUp = true;
      controller.abort();
    });
  let cancel = start();
  return {
    signal: linked.signal,
    get isUp() {
      return isUp;
    },
    restart() {
      cancel();
      if (!linked.signal.aborted) cancel = start();
    },
    end() {
      cancel();
      linked.release();
    },
  };
}

/** Which came first: the end of the work, or the limit. The work is not cancelled; its later failure is ignored. */
export type Limited<T> = { readonly inTime: true; readonly value: T } | { readonly inTime: false };

/**
 * Waits for `work` for at most `limitMs`. Rejects with the error of `work` when it fails in time.
 * @param signal ends the wait at once, as if the time were over
 */
export function withinLimit<T>(
  clock: Clock,
  limitMs: number,
  work: PromiseLike<T>,
  signal?: AbortSignal,
): Promise<Limited<T>> {
  return race(work, (giveUp) => {
    const cancel = clock.after(limitMs, giveUp);
    const release = onAbort(signal, giveUp);
    return () => {
      cancel();
      release();
    };
  });
}

/** Messages that are on their way to Discord in the course of some work. */
export interface Outgoing {
  /** Counts a message until it has arrived or failed, and returns it. */
  add<P extends Promise<unknown>>(message: P): P;
  /** Resolves when those that are on their way now have arrived or failed; `undefined` when there are none. */
  arrival(): Promise<unknown> | undefined;
}

export function createOutgoing(): Outgoing {
  const messages = new Set<Promise<unknown>>();
  return {
    add(message) {
      messages.add(message);
      const over = () => void messages.delete(message);
      message.then(over, over);
      return message;
    },
    arrival: () => (messages.size === 0 ? undefined : Promise.allSettled(messages)),
  };
}

/**
 * Waits for `work`, which was given `signal`: without a limit until the signal aborts, then for the grace period in which the work can end by itself. Rejects
 * with the error of `work` when it fails in time.
 * @param graceMs a function is called when the signal aborts
 * @param outgoing messages of the work; each extends the grace period, as in `afterGrace`
 */
export function withAbortGrace<T>(
  clock: Clock,
  graceMs: number | (() => number),
  work: PromiseLike<T>,
  signal: AbortSignal,
  outgoing?: Pick<Outgoing, 'arrival'>,
): Promise<Limited<T>> {
  return race(work, (giveUp) => {
    let cancel = () => {};
    const release = onAbort(signal, () => {
      cancel = afterGrace(clock, typeof graceMs === 'number' ? graceMs : graceMs(), outgoing, giveUp);
    });
    return () => {
      cancel();
      release();
    };
  });
}

/** Maximum number of extensions: without it, the wait for work that ignores its signal and keeps sending would never end. */
const MOST_EXTENSIONS = 3;

/**
 * Calls `giveUp` after the grace period. If a message of the work is on its way then, waits for its arrival and for half of the period again, three times at
 * most: otherwise members could read that the work was given up after they have read its result.
 * @returns a function that cancels this
 */
export function afterGrace(
  clock: Clock,
  graceMs: number,
  outgoing: Pick<Outgoing, 'arrival'> | undefined,
  giveUp: () => void,
): () => void {
  let isOver = false;
  let cancel = () => {};
  const begin = (periodMs: number, extensions: number) => {
    if (isOver) return;
    cancel = clock.after(periodMs, () => {
      const arrival = extensions === 0 ? undefined : outgoing?.arrival();
      if (arrival === undefined) giveUp();
      else void arrival.then(() => begin(graceMs / 2, extensions - 1));
    });
  };
  begin(graceMs, MOST_EXTENSIONS);
  return () => {
    isOver = true;
    cancel();
  };
}

/** Waits for `work` until `signal` aborts. Rejects with the error of `work` when it fails before. */
export function unlessAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<Limited<T>> {
  return race(work, (giveUp) => onAbort(signal, giveUp));
}

/** Waits for `work` or for `giveUp`, whichever comes first. @param arm arranges that `giveUp` is called, and returns a function that cancels this */
async function race<T>(work: PromiseLike<T>, arm: (giveUp: () => void) => () => void): Promise<Limited<T>> {
  let disarm = () => {};
  try {
    return await new Promise<Limited<T>>((resolve, reject) => {
      disarm = arm(() => resolve({ inTime: false }));
      work.then((value) => resolve({ inTime: true, value }), reject);
    });
  } finally {
    disarm();
  }
}
