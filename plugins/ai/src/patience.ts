import type { Clock } from '@cinnabar/sdk';
import { HTTPError } from 'discord.js';

/** Before Discord is asked again. discord.js has repeated the request a few times by itself at each of these. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000];

/**
 * Repeats a request that failed for Discord's or the network's sake. Nobody knows whether it was carried out, so it has to be one that
 * can be repeated: a message needs a nonce that Discord enforces.
 * @throws what the request threw last, or at once when repeating it cannot help
 */
export async function withPatience<T>(clock: Clock, signal: AbortSignal, request: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await request();
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error;
      await pause(clock, signal, pauseMs);
      if (signal.aborted) throw error;
    }
  }
  return request();
}

/** Ends early, and leaves no timer, when the plugin stops. */
function pause(clock: Clock, signal: AbortSignal, pauseMs: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(pauseMs, end);
    signal.addEventListener('abort', end, { once: true });
  });
}

const NETWORK = /^(?:ECONN|ETIMEDOUT|EPIPE|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|UND_ERR_)/;

function isPassing(error: unknown): boolean {
  if (error instanceof HTTPError) return error.status >= 500;
  if (!(error instanceof Error)) return false;
  return error.name === 'AbortError' || ('code' in error && NETWORK.test(String(error.code)));
}
