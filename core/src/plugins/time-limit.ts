import type { Clock } from '@cinnabar/sdk';

/** What came first: the work's own end, or the limit. The work is not cancelled; a late failure of it goes nowhere. */
export type Limited<T> = { readonly inTime: true; readonly value: T } | { readonly inTime: false };

/**
 * Waits for `work` for at most `limitMs`. Rejects as `work` does when that fails in time.
 * @param signal ends the waiting at once, as if the time were up
 */
export function withinLimit<T>(
  clock: Clock,
  limitMs: number,
  work: PromiseLike<T>,
  signal?: AbortSignal,
): Promise<Limited<T>> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      end();
      resolve({ inTime: false });
    };
    const cancel = clock.after(limitMs, giveUp);
    const end = () => {
      cancel();
      signal?.removeEventListener('abort', giveUp);
    };
    signal?.addEventListener('abort', giveUp);
    work.then(
      (value) => {
        end();
        resolve({ inTime: true, value });
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
    if (signal?.aborted === true) giveUp();
  });
}
