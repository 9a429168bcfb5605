import { type Clock, type Logger, retryDiscord } from '@cinnabar/sdk';

const FIRST_DELAY_MS = 1_000;
export const DEFAULT_BACKOFF_MAX_MS = 32_000;

export interface BackoffOptions {
  readonly clock: Clock;
  /** The longest pause: after it, one last attempt is made. */
  readonly maxMs: number;
  readonly log: Logger;
  /** Ends the waiting: the task's last error is thrown. */
  readonly signal?: AbortSignal;
}

/**
 * Repeats a read of Discord's REST API that failed for Discord's or the network's sake, after 1 s, 2 s, 4 s and so on up to `maxMs`.
 * Rate limits are not its business: discord.js holds requests back by itself. For reads only, since nobody knows whether a write that failed
 * in this way was carried out.
 * @throws what the task threw last, or at once when repeating it cannot help
 * @example await withDiscordBackoff(() => channel.messages.fetch({ limit: 100 }), { clock, maxMs: 32_000, log });
 */
export function withDiscordBackoff<T>(task: () => Promise<T>, options: BackoffOptions): Promise<T> {
  const { clock, maxMs, log, signal } = options;
  const pausesMs: number[] = [];
  for (let pauseMs = FIRST_DELAY_MS; pauseMs < maxMs; pauseMs *= 2) pausesMs.push(pauseMs);
  pausesMs.push(maxMs);
  const onRetry = (error: unknown, pauseMs: number) =>
    log.warn(`Discord did not answer; trying again in ${pauseMs / 1000} s`, { error });
  return retryDiscord(clock, task, { signal, pausesMs, onRetry });
}
