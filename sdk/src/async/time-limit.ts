import type { Clock } from '../clock.js';

/** What came first: the end of the work, or the limit. The work is not cancelled; a later failure of it is ignored. */
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

/**
 * Waits for `work`, which was given `signal`: without a limit until the signal aborts, then for the grace period in which the work can end by
 * itself. Rejects as `work` does when that fails in time.
 * @param graceMs a function is called when the signal aborts
 */
export function withAbortGrace<T>(
  clock: Clock,
  graceMs: number | (() => number),
  work: PromiseLike<T>,
  signal: AbortSignal,
): Promise<Limited<T>> {
  return new Promise((resolve, reject) => {
    let cancel = () => {};
    const startGrace = () => {
      cancel = clock.after(typeof graceMs === 'number' ? graceMs : graceMs(), () => resolve({ inTime: false }));
    };
    const end = () => {
      cancel();
      signal.removeEventListener('abort', startGrace);
    };
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
    if (signal.aborted) startGrace();
    else signal.addEventListener('abort', startGrace, { once: true });
  });
}

/** Waits for `work` until `signal` aborts. Rejects as `work` does when that fails before. */
export function unlessAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<Limited<T>> {
  return new Promise((resolve, reject) => {
    const giveUp = () => resolve({ inTime: false });
    const end = () => signal.removeEventListener('abort', giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
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
    if (signal.aborted) {
      end();
      giveUp();
    }
  });
}
