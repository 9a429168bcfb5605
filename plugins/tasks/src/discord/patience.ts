import { type Clock, isTransient } from '@cinnabar/sdk';
import { pause } from '../running/pause.js';

/** Before Discord is asked again. discord.js has repeated the request a few times by itself at each of these. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000];

/** Repeats a request that can be repeated: a message needs a nonce that Discord enforces. @throws Interrupted when `signal` aborts meanwhile */
export async function withPatience<T>(clock: Clock, signal: AbortSignal, request: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await request();
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
      await pause(clock, pauseMs, signal);
    }
  }
  return request();
}
