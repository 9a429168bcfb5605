import { CinnabarError, type Clock, type Random, sleep, z } from '@cinnabar/sdk';
import { DiscordAPIError, HTTPError } from 'discord.js';
import { pauseAfter, spread } from './backoff.js';

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

/** Where the gateway is, how many shards it wants, how many sessions may be opened: `GET /gateway/bot`. */
export interface GatewayInformation {
  /**
   * The first answer, kept. Asks again and again, with growing pauses, while Discord is away.
   * @throws what waiting cannot mend: a token that is refused, an address that is not Discord's
   */
  get(): Promise<GatewayBot>;
  /** Asks once more; the answer of before when that fails. */
  refreshed(): Promise<GatewayBot>;
  /** Asks once more; `undefined` when that fails. */
  askAgain(): Promise<GatewayBot | undefined>;
}

interface Parts {
  readonly ask: () => Promise<unknown>;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly onUnreachable: (detail: string, retryInMs: number) => void;
}

export function createGatewayInformation({ ask, clock, random, signal, onUnreachable }: Parts): GatewayInformation {
  let known: GatewayBot | undefined;
  let pending: Promise<GatewayBot> | undefined;

  const askOnce = async () => {
    known = informationSchema.parse(await ask());
    return known;
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

  const get = async () => {
    if (known !== undefined) return known;
    pending ??= askUntilAnswered();
    try {
      return await pending;
    } finally {
      pending = undefined;
    }
  };

  const askAgain = async () => {
    try {
      return await askOnce();
    } catch {
      return undefined;
    }
  };

  return { get, askAgain, refreshed: async () => (await askAgain()) ?? get() };
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
