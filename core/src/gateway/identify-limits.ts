import { type Clock, type Logger, sleep } from '@cinnabar/sdk';
import type { GatewayInformation } from './information.js';

/** Discord lets each group of shards identify once in five seconds. */
const SPACING_MS = 5_000;
const DAY_MS = 24 * 60 * 60_000;
/** When Discord does not say how many sessions a new day has. */
const ASK_AGAIN_MS = 60_000;

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
        log.error(
          `Discord admits no new session for at least another ${Math.ceil(waitMs / 60_000)} min: the limit of the day is reached`,
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
      const turn = (lines.get(group) ?? Promise.resolve()).then(() => takeTurn(group, signal));
      lines.set(group, turn);
      return turn;
    },
  };
}
