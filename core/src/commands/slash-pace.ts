import { type Clock, type Logger, sleep } from '@cinnabar/sdk';
import type { SharedLimits } from '../cluster/limits.js';

/** So many lists are brought in line without a pause, … */
const BURST = 30;
/** … and more of them at this pace: the bot's answers come out of the same limit of 50 requests a second, and out of the same processor. */
const PAUSE_MS = 200;

/** Lets one list of slash commands after another be brought in line. @returns `false` when the bot stops meanwhile */
export type SlashPace = (signal: AbortSignal) => Promise<boolean>;

export function createSlashPace(clock: Clock): SlashPace {
  let next = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    const now = clock.now();
    next = Math.max(next, now - BURST * PAUSE_MS) + PAUSE_MS;
    return next <= now ? !signal.aborted : sleep(clock, next - now, signal);
  };
}

/** What all hosts of a cluster take from: a burst that comes back slowly, so that it adds little to the pace, and then the pace. */
const SPANS = [
  { name: 'slash-burst', lastsMs: 10 * BURST * PAUSE_MS, left: BURST },
  { name: 'slash-pace', lastsMs: 5 * PAUSE_MS, left: 5 },
] as const;
/** The database is away. */
const RETRY_MS = 1_000;

/** The same for all hosts of a cluster together, however many there are. */
export function createSharedSlashPace(limits: Pick<SharedLimits, 'take'>, clock: Clock, log: Logger): SlashPace {
  /** Until when a span has nothing left, so that it is not asked in vain. */
  const emptyUntil = new Map<string, number>();
  const take = async (): Promise<boolean> => {
    for (const { name, ...span } of SPANS) {
      if (clock.now() < (emptyUntil.get(name) ?? 0)) continue;
      const { granted, endsInMs } = await limits.take(name, 1, span);
      if (granted > 0) return true;
      emptyUntil.set(name, clock.now() + endsInMs);
    }
    return false;
  };
  return async (signal) => {
    while (!signal.aborted) {
      try {
        if (await take()) return !signal.aborted;
      } catch (error) {
        log.debug('slash commands wait for the database, which all processes pace them by', { error });
        emptyUntil.set('slash-pace', clock.now() + RETRY_MS);
      }
      const waitMs = Math.min(...SPANS.map(({ name }) => emptyUntil.get(name) ?? 0)) - clock.now();
      await sleep(clock, Math.max(1, waitMs), signal);
    }
    return false;
  };
}
