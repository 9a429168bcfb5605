import { CinnabarError, type Clock, type Logger, type Random, sleep, z } from '@cinnabar/sdk';
import { DiscordAPIError, HTTPError } from 'discord.js';
import type { SharedLimits } from '../cluster/limits.js';

/** Values for fields that a Discord-compatible server leaves out: those of a small bot. */
const informationSchema = z.object({
  url: z.string(),
  shards: z.number().int().min(1).default(1),
  session_start_limit: z
    .object({
      total: z.number().default(1_000),
      remaining: z.number().default(1_000),
      reset_after: z.number().default(0),
      max_concurrency: z.number().int().min(1).default(1),
    })
    .prefault({}),
});
type GatewayBot = z.output<typeof informationSchema>;

/** Statuses below 500 that are temporary: a firewall's block, a proxy's timeout, a rate limit. */
const PASSING: ReadonlySet<number> = new Set([403, 408, 429]);

interface Dependencies {
  readonly ask: () => Promise<unknown>;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly onUnreachable: (detail: string, retryInMs: number) => void;
}

export type GatewayInformation = ReturnType<typeof createGatewayInformation>;

/** The gateway's address, the recommended number of shards and the session limit: `GET /gateway/bot`. */
export function createGatewayInformation({ ask, clock, random, signal, onUnreachable }: Dependencies) {
  let known: GatewayBot | undefined;
  let pending: Promise<GatewayBot> | undefined;
  let asking: Promise<GatewayBot> | undefined;

  const request = async () => {
    known = informationSchema.parse(await ask());
    return known;
  };
  /** Concurrent calls share the request: a process may open dozens of shards at once. */
  const askOnce = (): Promise<GatewayBot> => {
    asking ??= request().finally(() => {
      asking = undefined;
    });
    return asking;
  };
  const askUntilAnswered = async () => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await askOnce();
      } catch (error) {
        signal.throwIfAborted();
        const lasting = lastingFault(error);
        if (lasting !== undefined) throw lasting;
        const pauseMs = spread(pauseAfter(failures), random);
        onUnreachable(describe(error), pauseMs);
        if (!(await sleep(clock, pauseMs, signal))) signal.throwIfAborted();
      }
    }
  };

  /**
   * The first answer, cached. Retries with growing delays while Discord is unreachable.
   * @throws a permanent error: a refused token, an address that is not Discord's
   */
  const get = async (): Promise<GatewayBot> => {
    if (known !== undefined) return known;
    pending ??= askUntilAnswered();
    try {
      return await pending;
    } finally {
      pending = undefined;
    }
  };

  /** Requests again; `undefined` when that fails. */
  const askAgain = async (): Promise<GatewayBot | undefined> => {
    try {
      return await askOnce();
    } catch {
      return undefined;
    }
  };

  return {
    get,
    askAgain,
    /** Requests again; returns the previous answer when that fails. */
    refreshed: async (): Promise<GatewayBot> => (await askAgain()) ?? get(),
  };
}

/** The error to give up with when retrying does not help. */
function lastingFault(error: unknown): unknown {
  if (!(error instanceof DiscordAPIError) || error.status >= 500 || PASSING.has(error.status)) return undefined;
  if (error.status === 401) return error;
  const detail = `its API answers ${error.status} to GET /gateway/bot. Check DISCORD_API.`;
  return new CinnabarError('CINNABAR_GATEWAY_LOGIN', { detail }, { cause: error });
}

function describe(error: unknown): string {
  if (error instanceof HTTPError || error instanceof DiscordAPIError) return `${error.status} ${error.message}`.trim();
  if (error instanceof z.ZodError) return 'its answer cannot be read';
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AbortError') return 'no answer in time';
  if (error.message !== '') return error.message;
  return 'code' in error ? String(error.code) : error.name;
}

/** Discord lets each group of shards identify once in five seconds. */
const SPACING_MS = 5_000;
const DAY_MS = 24 * 60 * 60_000;
/** The interval of requests when Discord does not return the number of sessions of a new day. */
const ASK_AGAIN_MS = 60_000;

/** One session that may be opened. */
interface Permit {
  /** Returns the permit when nothing was opened. Idempotent. */
  release(): void;
}

export interface IdentifyLimits {
  /**
   * Waits until Discord allows one more session. Above the daily limit, Discord would close every session and reset the token.
   * @returns `undefined` when the signal aborted first
   */
  permit(signal: AbortSignal): Promise<Permit | undefined>;
  /** Waits for the shard's turn: Discord requires that sessions are opened one at a time. `false` when the signal aborted first. */
  turn(shardId: number, signal: AbortSignal): Promise<boolean>;
}

/** Keeps Discord's limits on opening sessions. @see https://discord.com/developers/docs/events/gateway#session-start-limit-object */
export function createIdentifyLimits(clock: Clock, information: GatewayInformation, log: Logger): IdentifyLimits {
  /** By group of shards: when the next shard may identify, and the turn of the last one in the queue. */
  const nextAt = new Map<number, number>();
  const lines = new Map<number, Promise<boolean>>();
  let left = 0;
  let renewedAt = 0;
  let renewing: Promise<void> | undefined;

  const askLimit = async () => {
    const answer = renewedAt === 0 ? await information.get() : await information.askAgain();
    if (answer === undefined) {
      // The previous answer must not count as that of the new day. The rest of the old allowance may still be used.
      renewedAt = clock.now() + ASK_AGAIN_MS;
      return;
    }
    const { session_start_limit: limit } = answer;
    left = limit.remaining;
    renewedAt = clock.now() + (limit.reset_after || DAY_MS);
  };
  /** Requests the limit when Discord's time window has ended and a new one begins. Concurrent calls share the answer. */
  const renew = async () => {
    if (renewedAt !== 0 && clock.now() < renewedAt) return;
    renewing ??= askLimit().finally(() => {
      renewing = undefined;
    });
    await renewing;
  };

  /** Waits for a turn of a group of shards. Only a used turn delays the next one: connections that are lost while they wait cause no pause. */
  const takeTurn = async (group: number, signal: AbortSignal) => {
    const waitMs = (nextAt.get(group) ?? 0) - clock.now();
    const isThere = waitMs > 0 ? await sleep(clock, waitMs, signal) : !signal.aborted;
    if (isThere) nextAt.set(group, clock.now() + SPACING_MS);
    return isThere;
  };

  return {
    async permit(signal) {
      await renew();
      while (left <= 0) {
        const waitMs = Math.max(0, renewedAt - clock.now());
        logReached(log, waitMs);
        if (!(await sleep(clock, waitMs, signal))) return undefined;
        await renew();
      }
      left -= 1;
      let held = true;
      return {
        release() {
          if (held) left += 1;
          held = false;
        },
      };
    },
    async turn(shardId, signal) {
      const { session_start_limit: limit } = await information.get();
      const group = shardId % limit.max_concurrency;
      const turn = (lines.get(group) ?? Promise.resolve()).then(() => takeTurn(group, signal));
      lines.set(group, turn);
      return turn;
    },
  };
}

/** Added to Discord's spacing, for the different latencies of processes. */
const MARGIN_MS = 250;
/** Pause while the database is unreachable. */
const AWAY_MS = 1_000;

/** Keeps the limits across the processes of a cluster. */
export function createSharedIdentifyLimits({
  limits,
  information,
  clock,
  log,
}: {
  readonly limits: Pick<SharedLimits, 'take' | 'giveBack'>;
  readonly information: GatewayInformation;
  readonly clock: Clock;
  readonly log: Logger;
}): IdentifyLimits {
  const SESSIONS = 'sessions';
  /** @returns how long to wait before the next attempt, in ms; 0 when one was granted */
  const takeOne = async (name: string, span: { readonly lastsMs: number; readonly left: number }) => {
    try {
      const { granted, endsInMs } = await limits.take(name, 1, span);
      return granted === 1 ? 0 : Math.max(1, endsInMs);
    } catch (error) {
      log.warn('limits of Discord could not be looked up', { error });
      return AWAY_MS;
    }
  };
  const giveBack = () =>
    limits.giveBack(SESSIONS).catch((error: unknown) => log.debug('a session was not given back', { error }));

  return {
    async permit(signal) {
      for (;;) {
        // Discord's answer includes the sessions that other processes have opened.
        const { session_start_limit: limit } = await information.refreshed();
        const waitMs = await takeOne(SESSIONS, { left: limit.remaining, lastsMs: limit.reset_after || DAY_MS });
        if (waitMs === 0) break;
        if (waitMs !== AWAY_MS) logReached(log, waitMs);
        if (!(await sleep(clock, waitMs, signal))) return undefined;
      }
      let held = true;
      return {
        release() {
          if (held) void giveBack();
          held = false;
        },
      };
    },
    async turn(shardId, signal) {
      const { session_start_limit: limit } = await information.get();
      const name = `identify ${shardId % limit.max_concurrency}`;
      for (;;) {
        if (signal.aborted) return false;
        const waitMs = await takeOne(name, { left: 1, lastsMs: SPACING_MS + MARGIN_MS });
        if (waitMs === 0) return !signal.aborted;
        if (!(await sleep(clock, waitMs, signal))) return false;
      }
    },
  };
}

function logReached(log: Logger, waitMs: number): void {
  log.error(
    `Discord admits no new session for at least another ${Math.ceil(waitMs / 60_000)} min: the limit of the day is reached`,
  );
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A connection that was ready for this long counts as stable: its end resets the count of failures. */
const SOUND_MS = 30_000;
/** Resuming costs Discord little, and a slash command has to be answered within 3 s: delays are at most 2 s. */
const MOST_FAILURES_WHILE_RESUMING = 3;

/** The result of an attempt, which decides the delay before the next one. */
interface Attempt {
  /** How long the connection was ready; `undefined` when it never was. */
  readonly readyForMs: number | undefined;
  readonly resumed: boolean;
  /** The connection ended because Discord or the host requires a new session: not a failure. */
  readonly renewing: boolean;
}

/**
 * The reconnection schedule of one shard. The first attempt after a stable connection is immediate, the next after 1 s, 2 s, 4 s … up to a minute, with a
 * random factor between a half and 1, so that shards that failed together do not reconnect together.
 */
export function createBackoff(random: Random) {
  let failures = 0;
  return {
    /** Consecutive attempts that did not lead to a stable connection. */
    get failures(): number {
      return failures;
    },
    /** Milliseconds until the next attempt. */
    next({ readyForMs, resumed, renewing }: Attempt): number {
      if (renewing) return 0;
      if (readyForMs !== undefined && readyForMs >= SOUND_MS) failures = 0;
      failures += 1;
      if (readyForMs !== undefined && resumed) failures = Math.min(failures, MOST_FAILURES_WHILE_RESUMING);
      return failures === 1 ? 0 : spread(pauseAfter(failures - 1), random);
    },
  };
}

/** The maximum delay after this many consecutive failures, starting at 1. */
function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
}

/** A random delay between half of the given one and all of it. */
function spread(pauseMs: number, random: Random): number {
  return pauseMs * (0.5 + random.next() / 2);
}
