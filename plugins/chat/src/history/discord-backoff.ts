import type { Clock, Logger } from '@cinnabar/sdk';
import { HTTPError } from 'discord.js';

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
export async function withDiscordBackoff<T>(task: () => Promise<T>, options: BackoffOptions): Promise<T> {
  const { clock, maxMs, log, signal } = options;
  for (let delayMs = FIRST_DELAY_MS, last = false; ; delayMs *= 2) {
    try {
      return await task();
    } catch (error) {
      if (last || !isPassing(error)) throw error;
      const pauseMs = Math.min(delayMs, maxMs);
      last = delayMs >= maxMs;
      log.warn(`Discord did not answer; trying again in ${pauseMs / 1000} s`, { error });
      if (!(await pause(clock, pauseMs, signal))) throw error;
    }
  }
}

const NETWORK = /^(?:ECONN|ETIMEDOUT|EPIPE|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|UND_ERR_)/;

/** Whether the same request may go through a little later: Discord failed, took too long, or could not be reached. */
function isPassing(error: unknown): boolean {
  if (error instanceof HTTPError) return error.status >= 500;
  if (!(error instanceof Error)) return false;
  return error.name === 'AbortError' || ('code' in error && NETWORK.test(String(error.code)));
}

/** `false` when there is no point in going on. */
function pause(clock: Clock, delayMs: number, signal: AbortSignal | undefined): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const finish = () => {
      cancel();
      signal?.removeEventListener('abort', finish);
      resolve(signal?.aborted !== true);
    };
    const cancel = clock.after(delayMs, finish);
    signal?.addEventListener('abort', finish, { once: true });
  });
}
