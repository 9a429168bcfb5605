import { CinnabarError, type Clock } from '@cinnabar/sdk';

/** How long something may go on after its plugin's signal has aborted before its caller gets an answer without it. */
const GRACE_MS = 1_000;

/** One listener a signal, however much runs under it: adding one costs more than a whole small command. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Waits for `work` while its plugin runs. Once the signal has aborted, whatever it fails with is due to that, and it is not waited for much
 * longer: it may not listen to the signal.
 * @throws CINNABAR_INTERRUPTED, or what `work` fails with while the plugin runs
 */
export function untilInterrupted<T>(signal: AbortSignal, clock: Clock, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let cancel: () => void = () => undefined;
    const interrupt = () => {
      cancel = clock.after(GRACE_MS, () => reject(new CinnabarError('CINNABAR_INTERRUPTED')));
    };
    const callbacks = callbacksOf(signal);
    callbacks.add(interrupt);
    if (signal.aborted) interrupt();
    work
      .then(resolve, (error: unknown) =>
        reject(signal.aborted ? new CinnabarError('CINNABAR_INTERRUPTED', {}, { cause: error }) : error),
      )
      .finally(() => {
        callbacks.delete(interrupt);
        cancel();
      });
  });
}

function callbacksOf(signal: AbortSignal): Set<() => void> {
  const known = waiting.get(signal);
  if (known !== undefined) return known;
  const callbacks = new Set<() => void>();
  waiting.set(signal, callbacks);
  signal.addEventListener('abort', () => callbacks.forEach((callback) => void callback()), { once: true });
  return callbacks;
}
