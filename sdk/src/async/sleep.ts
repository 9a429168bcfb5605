import type { Clock } from '../clock.js';

/** Resolves with `true` after `delayMs`, or with `false` as soon as `signal` aborts. Leaves no timer and no listener behind. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve(signal?.aborted !== true);
    };
    const cancel = clock.after(delayMs, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}
