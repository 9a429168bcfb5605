import { CinnabarError, type Clock, type Logger, type Random, sleep, z } from '@cinnabar/sdk';
import { DiscordAPIError, HTTPError } from 'discord.js';
import type { SharedLimits } from '../cluster/limits.js';

/** Where a Discord-compatible server leaves something out, what Discord says to a small bot. */
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
export type GatewayBot = z.output<typeof informationSchema>;

/** Statuses below 500 that pass by themselves: a firewall's block, a proxy's time-out, a rate limit. */
const PASSING: ReadonlySet<number> = new Set([403, 408, 429]);

interface Dependencies {
  readonly ask: () => Promise<unknown>;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly onUnreachable: (detail: string, retryInMs: number) => void;
}

export type GatewayInformation = ReturnType<typeof createGatewayInformation>;

/** Where the gateway is, how many shards it wants, how many sessions may be opened: `GET /gateway/bot`. */
export function createGatewayInformation({ ask, clock, random, signal, onUnreachable }: Dependencies) {
  let known: GatewayBot | undefined;
  let pending: Promise<GatewayBot> | undefined;
  let asking: Promise<GatewayBot> | undefined;

  const request = async () => {
    known = informationSchema.parse(await ask());
    return known;
  };
  /** Shards that ask together share the request: a process may open dozens at once. */
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
   * The first answer, kept. Asks again and again, with growing pauses, while Discord is away.
   * @throws what waiting cannot mend: a token that is refused, an address that is not Discord's
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

  /** Asks once more; `undefined` when that fails. */
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
    /** Asks once more; the answer of before when that fails. */
    refreshed: async (): Promise<GatewayBot> => (await askAgain()) ?? get(),
  };
}

/** The error to give up with, if waiting does not help. */
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
/** When Discord does not say how many sessions a new day has. */
const ASK_AGAIN_MS = 60_000;

/** One session that may be opened. */
interface Permit {
  /** Gives it back: nothing was opened. Idempotent. */
  release(): void;
}

export interface IdentifyLimits {
  /**
   * Waits until Discord admits one session more. Above the limit of a day it would close every session and take the token away.
   * @returns `undefined` when the signal aborted first
   */
  permit(signal: AbortSignal): Promise<Permit | undefined>;
  /** Waits for the shard's turn: Discord wants sessions opened one after another. `false` when the signal aborted first. */
  turn(shardId: number, signal: AbortSignal): Promise<boolean>;
}

/** Keeps Discord's limits on opening sessions. @see https://discord.com/developers/docs/events/gateway#session-start-limit-object */
export function createIdentifyLimits(clock: Clock, information: GatewayInformation, log: Logger): IdentifyLimits {
  /** By group: when the next may identify, and the last that waits. */
  const nextAt = new Map<number, number>();
  const lines = new Map<number, Promise<boolean>>();
  let left = 0;
  let renewedAt = 0;
  let renewing: Promise<void> | undefined;

  const askLimit = async () => {
    const answer = renewedAt === 0 ? await information.get() : await information.askAgain();
    if (answer === undefined) {
      // An old answer would count as that of the new day. What is left may still be used.
      renewedAt = clock.now() + ASK_AGAIN_MS;
      return;
    }
    const { session_start_limit: limit } = answer;
    left = limit.remaining;
    renewedAt = clock.now() + (limit.reset_after || DAY_MS);
  };
  /** Discord counts by windows: a new one begins when the last has passed. Shards that ask together share the answer. */
  const renew = async () => {
    if (renewedAt !== 0 && clock.now() < renewedAt) return;
    renewing ??= askLimit().finally(() => {
      renewing = undefined;
    });
    await renewing;
  };

  /** Only a turn that is taken moves the next one back: connections that are lost while they wait leave no gap. */
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

/** Processes are not equally far from Discord. */
const MARGIN_MS = 250;
/** The database is away. */
const AWAY_MS = 1_000;

/** Keeps the limits together with the other processes of a cluster. */
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
  /** @returns how long to wait until it is worth trying again; 0 when it was granted */
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
        // What others have used, Discord knows.
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
/** A connection that stayed ready for this long was sound: what ends it is not counted together with what came before. */
const SOUND_MS = 30_000;
/** A session that was resumed costs Discord little, and a slash command has to be answered within 3 s: pauses stay at most 2 s. */
const MOST_FAILURES_WHILE_RESUMING = 3;

/** How an attempt went: what decides the pause before the next one. */
interface Attempt {
  /** How long it was ready; `undefined` when it never was. */
  readonly readyForMs: number | undefined;
  readonly resumed: boolean;
  /** It ended because a new session is due, on Discord's word or the host's: not a failure. */
  readonly renewing: boolean;
}

/**
 * The schedule of one shard. The first attempt after a sound connection comes at once, the next after 1 s, 2 s, 4 s … up to a minute,
 * each between half of that and all of it, so that shards that failed together do not come back together.
 */
export function createBackoff(random: Random) {
  let failures = 0;
  return {
    /** Attempts in a row that did not lead to a sound connection. */
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

/** The longest pause after that many failures in a row, from 1. */
function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
}

/** Between half of a pause and all of it. */
function spread(pauseMs: number, random: Random): number {
  return pauseMs * (0.5 + random.next() / 2);
}
