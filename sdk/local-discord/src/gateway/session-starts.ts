import type { Clock } from '../state/events.js';

/** Limits of the sessions that a bot may open. https://discord.com/developers/docs/events/gateway#session-start-limit-object */
export interface SessionStartLimit {
  /** Per day; default: 1,000. */
  total?: number;
  /**
   * Number of shards that may identify within 5 s, one of each remainder. By default, `GET /gateway/bot` returns 16 and the limit is not enforced, so that
   * tests do not wait.
   */
  maxConcurrency?: number;
}

/** The values of `GET /gateway/bot`. */
interface SessionStartState {
  total: number;
  remaining: number;
  reset_after: number;
  max_concurrency: number;
}

export interface SessionStarts {
  state(bot: string): SessionStartState;
  /** Counts an IDENTIFY. `too-fast`: the shard identified too early; `too-many`: the day's limit is reached. */
  take(bot: string, shard: number): 'admitted' | 'too-fast' | 'too-many';
}

const SPACING_MS = 5_000;
const DAY_MS = 86_400_000;
const UNENFORCED_CONCURRENCY = 16;

interface Used {
  starts: number;
  dayEndsAt: number;
  /** By remainder: the time at which the next shard may identify. */
  nextAt: Map<number, number>;
}

export function createSessionStarts(clock: Clock, limit: SessionStartLimit = {}): SessionStarts {
  const { total = 1_000, maxConcurrency } = limit;
  const isEnforced = limit.total !== undefined || maxConcurrency !== undefined;
  const bots = new Map<string, Used>();
  const usedBy = (bot: string): Used => {
    const now = clock.now();
    const known = bots.get(bot);
    if (known !== undefined && now < known.dayEndsAt) return known;
    const fresh: Used = { starts: 0, dayEndsAt: now + DAY_MS, nextAt: known?.nextAt ?? new Map() };
    bots.set(bot, fresh);
    return fresh;
  };
  return {
    state(bot) {
      const { starts, dayEndsAt } = usedBy(bot);
      return {
        total,
        remaining: isEnforced ? Math.max(0, total - starts) : total,
        reset_after: isEnforced && starts > 0 ? dayEndsAt - clock.now() : 0,
        max_concurrency: maxConcurrency ?? UNENFORCED_CONCURRENCY,
      };
    },
    take(bot, shard) {
      const used = usedBy(bot);
      if (isEnforced && used.starts >= total) return 'too-many';
      if (maxConcurrency !== undefined) {
        const key = shard % maxConcurrency;
        if (clock.now() < (used.nextAt.get(key) ?? 0)) return 'too-fast';
        used.nextAt.set(key, clock.now() + SPACING_MS);
      }
      used.starts += 1;
      return 'admitted';
    },
  };
}
