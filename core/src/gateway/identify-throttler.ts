import type { Clock } from '@cinnabar/sdk';
import type { IIdentifyThrottler } from '@discordjs/ws';

/** Discord lets each group of shards identify once in five seconds. */
const SPACING_MS = 5_000;

/**
 * Spaces out identifies as Discord demands, on the injected clock.
 * @param concurrency asks Discord how many groups of shards there are
 * @see https://discord.com/developers/docs/events/gateway#rate-limiting
 */
export function createIdentifyThrottler(clock: Clock, concurrency: () => Promise<number>): IIdentifyThrottler {
  const nextAt = new Map<number, number>();
  return {
    async waitForIdentify(shardId, signal) {
      const group = shardId % (await concurrency());
      const now = clock.now();
      const at = Math.max(now, nextAt.get(group) ?? 0);
      nextAt.set(group, at + SPACING_MS);
      if (at > now) await wait(clock, at - now, signal);
    },
  };
}

function wait(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel();
      reject(new Error('Waiting to identify was aborted'));
    };
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
