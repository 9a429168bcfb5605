import { CinnabarError, type Clock, type Logger, withinLimit } from '@cinnabar/sdk';

/** A step of stopping. */
export interface Phase {
  /** What it does, for the log: `saving`. */
  readonly name: string;
  readonly limitMs: number;
  readonly run: () => unknown;
}

/**
 * Runs phases one after another. One that fails, or takes longer than its limit, is logged and left behind; the next one begins all the same.
 * @returns the names of those that did not end
 */
export async function runPhases(
  phases: readonly Phase[],
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<readonly string[]> {
  const unfinished: string[] = [];
  for (const { name, limitMs, run } of phases) {
    try {
      const { inTime } = await withinLimit(clock, limitMs, Promise.resolve().then(run));
      if (inTime) continue;
      log.warn(`stopping: ${name} took longer than ${limitMs / 1000} s and was cut short`);
    } catch (error) {
      log.error(`stopping: ${name} failed`, { error });
    }
    unfinished.push(name);
  }
  return unfinished;
}

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
