import type { Clock } from '@cinnabar/sdk';

/** What came first: the work's own end, or the limit. The work is not cancelled; a late failure of it goes nowhere. */
export type Limited<T> = { readonly inTime: true; readonly value: T } | { readonly inTime: false };

/** Waits for `work` for at most `limitMs`. Rejects as `work` does when that fails in time. */
export function withinLimit<T>(clock: Clock, limitMs: number, work: PromiseLike<T>): Promise<Limited<T>> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () => resolve({ inTime: false }));
    work.then(
      (value) => {
        cancel();
        resolve({ inTime: true, value });
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}
