import { sleep } from '../async/sleep.js';
import type { Clock } from '../clock.js';
import { isTransient } from './errors.js';

/** 31 s in all. discord.js has repeated the request a few times by itself at each attempt. */
const PAUSES_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000];

export interface RetryOptions {
  /** Ends the waiting: what the request threw last is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Before each further attempt; 1, 2, 4, 8 and 16 s unless given. `doublingPauses` makes others. */
  readonly pausesMs?: readonly number[] | undefined;
  /** Called before each pause. */
  readonly onRetry?: (error: unknown, pauseMs: number) => void;
}

/**
 * Repeats a request that failed for Discord's or the network's sake. Nobody knows whether it was carried out, so it has to be one that can be
 * repeated: a read, an edit, a message with a nonce. Rate limits are not its business: discord.js holds requests back by itself.
 * @throws what the request threw last, or at once when repeating it cannot help
 * @example await retryDiscord(clock, () => channel.messages.edit(id, { content }), { signal });
 */
export async function retryDiscord<T>(
  clock: Clock,
  request: () => Promise<T>,
  { signal, pausesMs = PAUSES_MS, onRetry }: RetryOptions = {},
): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await request();
    } catch (error) {
      if (!isTransient(error) || signal?.aborted === true) throw error;
      onRetry?.(error, pauseMs);
      if (!(await sleep(clock, pauseMs, signal))) throw error;
    }
  }
  return request();
}

/** Pauses from `firstMs`, each twice the one before and none longer than `longestMs`, until they add up to `totalMs`. */
export function doublingPauses(firstMs: number, longestMs: number, totalMs: number): readonly number[] {
  const pauses: number[] = [];
  for (let pause = firstMs, left = totalMs; left > 0; pause = Math.min(pause * 2, longestMs)) {
    pauses.push(Math.min(pause, left));
    left -= pause;
  }
  return pauses;
}
