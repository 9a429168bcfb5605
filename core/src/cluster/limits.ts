import type { Clock } from '@cinnabar/sdk';
import { REQUESTS_PER_SECOND, type RequestBudget } from '../gateway/rest.js';
import type { Database } from '../storage/drivers/postgres/database.js';

/** Discord's limits for a bot as a whole, which the processes of its cluster share. */
export interface SharedLimits {
  /** Takes up to `wanted` from the allowance of a time span. The first call after the end of a span begins the next one. @throws DatabaseError */
  take(name: string, wanted: number, span: Span): Promise<Taken>;
  /** Returns one unused unit to the allowance. @throws DatabaseError */
  giveBack(name: string): Promise<void>;
  /** Requests of this process, for all of its groups; answers to interactions do not count. */
  readonly requests: RequestBudget;
}

interface Span {
  readonly lastsMs: number;
  /** The allowance of a span that begins with this call. A span that has begun keeps its allowance, of which this call gets at most this number. */
  readonly left: number;
}

interface Taken {
  /** As many as wanted, or what is left. */
  readonly granted: number;
  /** Time until the span ends, in ms. */
  readonly endsInMs: number;
}

export function createSharedLimits(database: Pick<Database, 'schema' | 'query'>, clock: Clock): SharedLimits {
  const limits = `${database.schema}.limits`;
  const more = 'greatest(0, least(EXCLUDED.granted, one.capacity - one.used))';
  const take: SharedLimits['take'] = async (name, wanted, { lastsMs, left }) => {
    const [row] = await database.query(
      `INSERT INTO ${limits} AS one (name, capacity, used, granted, until)
         SELECT $1, $3::int, begun, begun, now() + $4::float8 * interval '1 ms' FROM least($2::int, $3::int) AS begun
       ON CONFLICT (name) DO UPDATE SET
         capacity = CASE WHEN one.until <= now() THEN EXCLUDED.capacity ELSE one.capacity END,
         granted = CASE WHEN one.until <= now() THEN EXCLUDED.granted ELSE ${more} END,
         used = CASE WHEN one.until <= now() THEN EXCLUDED.used ELSE one.used + ${more} END,
         until = CASE WHEN one.until <= now() THEN EXCLUDED.until ELSE one.until END
       RETURNING granted, extract(epoch FROM until - clock_timestamp()) * 1000 AS ends_in_ms`,
      [name, wanted, left, lastsMs],
    );
    return { granted: Number(row?.granted), endsInMs: Math.max(0, Number(row?.ends_in_ms)) };
  };
  return {
    take,
    async giveBack(name) {
      await database.query(`UPDATE ${limits} SET used = greatest(0, used - 1) WHERE name = $1`, [name]);
    },
    requests: createSharedBudget(take, clock),
  };
}

/** Longer than Discord's second by the differences in the latency of requests. */
const WINDOW_MS = 1_100;
/** Maximum taken at once, so that other processes get some as well. No more is taken than requests wait: unused permits are lost for all. */
const LARGEST_CHUNK = 10;
/** Pause between requests while the database is unreachable. */
const RETRY_MS = 250;

function createSharedBudget(take: SharedLimits['take'], clock: Clock): RequestBudget {
  let left = 0;
  let endsAt = 0;
  let wanted = 0;
  let asking: Promise<void> | undefined;
  const pause = (ms: number) => new Promise<void>((resolve) => void clock.after(Math.max(1, ms), resolve));
  const ask = async () => {
    const asked = clock.now();
    const chunk = Math.min(LARGEST_CHUNK, wanted);
    try {
      const { granted, endsInMs } = await take('requests', chunk, { lastsMs: WINDOW_MS, left: REQUESTS_PER_SECOND });
      left = granted;
      endsAt = asked + endsInMs;
      if (granted === 0) await pause(endsInMs);
    } catch {
      await pause(RETRY_MS);
    } finally {
      asking = undefined;
      wanted = 0;
    }
  };
  return {
    take() {
      if (left <= 0 || clock.now() >= endsAt) return false;
      left -= 1;
      return true;
    },
    whenMore(waiting, again) {
      wanted += waiting;
      asking ??= ask();
      void asking.then(again);
    },
  };
}
