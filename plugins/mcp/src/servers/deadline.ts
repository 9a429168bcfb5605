import type { Clock } from '@cinnabar/sdk';

export interface Deadline {
  /** Aborts when the time is up, or with the signal it was linked to. */
  readonly signal: AbortSignal;
  /** Whether the time was up, rather than the other signal aborted. */
  passed(): boolean;
  /** Starts the time again, as after a sign of life. */
  restart(): void;
  /** Call it when the work is over: the other signal lives long. */
  clear(): void;
}

/** A time limit on the host's clock, joined with a signal. */
export function createDeadline(clock: Clock, limitMs: number, other?: AbortSignal): Deadline {
  const controller = new AbortController();
  let passed = false;
  const begin = () =>
    clock.after(limitMs, () => {
      passed = true;
      controller.abort(new Error('the time is up'));
    });
  let cancel = begin();
  const onAbort = () => controller.abort(other?.reason);
  if (other?.aborted === true) onAbort();
  other?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    passed: () => passed,
    restart() {
      if (controller.signal.aborted) return;
      cancel();
      cancel = begin();
    },
    clear() {
      cancel();
      other?.removeEventListener('abort', onAbort);
    },
  };
}
