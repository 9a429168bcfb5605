import { type Clock, type Logger, sleep } from '@cinnabar/sdk';
import type { GatewayInformation } from './information.js';

/** Discord lets each group of shards identify once in five seconds. */
const SPACING_MS = 5_000;
const DAY_MS = 24 * 60 * 60_000;

/** One session that may be opened. */
export interface Permit {
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
  const nextAt = new Map<number, number>();
  let left = 0;
  let renewedAt = 0;
  let renewing: Promise<void> | undefined;

  const askLimit = async () => {
    const { session_start_limit: limit } = renewedAt === 0 ? await information.get() : await information.refreshed();
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

  return {
    async permit(signal) {
      await renew();
      while (left <= 0) {
        const waitMs = Math.max(0, renewedAt - clock.now());
        log.error(
          `Discord admits no new session for another ${Math.ceil(waitMs / 60_000)} min: the limit of the day is reached`,
        );
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
      const now = clock.now();
      const at = Math.max(now, nextAt.get(group) ?? 0);
      nextAt.set(group, at + SPACING_MS);
      return at <= now ? !signal.aborted : sleep(clock, at - now, signal);
    },
  };
}
