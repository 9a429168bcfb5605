import type { Clock } from '@cinnabar/sdk';

/** How long a delivery may take to end after it was told to stop. */
const GRACE_MS = 3_000;

/** The outcome of a task, or `undefined` when its signal has been aborted and it does not end soon. */
export function endOrGrace<T>(task: Promise<T>, signal: AbortSignal, clock: Clock): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    let stopTimer: () => void = () => undefined;
    const onAbort = () => {
      stopTimer = clock.after(GRACE_MS, () => resolve(undefined));
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort);
    const cleanUp = () => {
      signal.removeEventListener('abort', onAbort);
      stopTimer();
    };
    task.then(resolve, reject).finally(cleanUp);
  });
}
