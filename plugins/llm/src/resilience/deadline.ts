import type { Clock } from '@cinnabar/sdk';

export type Interruption = 'timeout' | 'cancelled';
export type Bounded<T> =
  | { readonly done: true; readonly value: T }
  | { readonly done: false; readonly why: Interruption };

export interface Bounds {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Any of them cancels. */
  readonly signals: readonly AbortSignal[];
}

/**
 * Runs a task until its end, its time limit or a cancellation, whichever comes first, and aborts the task's own signal in the latter
 * two. Does not wait for a task that takes its time to notice.
 */
export async function within<T>(bounds: Bounds, task: (signal: AbortSignal) => Promise<T>): Promise<Bounded<T>> {
  const controller = new AbortController();
  let interrupt: (why: Interruption) => void = () => undefined;
  const interrupted = new Promise<Bounded<T>>((resolve) => {
    interrupt = (why) => {
      resolve({ done: false, why });
      controller.abort();
    };
  });
  const cancel = () => interrupt('cancelled');
  if (bounds.signals.some((signal) => signal.aborted)) return { done: false, why: 'cancelled' };
  for (const signal of bounds.signals) signal.addEventListener('abort', cancel);
  const stopTimer = bounds.clock.after(bounds.timeoutMs, () => interrupt('timeout'));
  try {
    const running = task(controller.signal).then((value): Bounded<T> => ({ done: true, value }));
    return await Promise.race([interrupted, running]);
  } finally {
    stopTimer();
    for (const signal of bounds.signals) signal.removeEventListener('abort', cancel);
  }
}

/** Waits on the clock. Resolves `false` when cancelled. */
export async function pause(bounds: Bounds): Promise<boolean> {
  const end = await within(bounds, () => new Promise<never>(() => undefined));
  return !end.done && end.why === 'timeout';
}
