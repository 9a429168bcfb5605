import type { Clock, Logger } from '@cinnabar/sdk';
import { withinLimit } from '../plugins/time-limit.js';

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
