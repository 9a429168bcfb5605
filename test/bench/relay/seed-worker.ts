import { CHANNELS, EVENTS, LATENCY_MS, load, RATE_LIMIT_MS } from './load.js';

const TICK_MS = 1_000;
const REQUEUED_MS = 1_000;

interface SeedRun {
  readonly drainMs: number;
  /** Number of channels in which events were delivered out of order. */
  readonly disordered: number;
}

/**
 * The worker of the original design: a loop that takes one event per second off the queue. An event of a channel that was served within the rate limit returns
 * to the end, and the loop sleeps for a second. The queue has room for all events.
 */
export function runSeedWorker(): SeedRun {
  const queue = load().map(({ channelId }, place) => ({ channelId, place }));
  const served = new Map<string, { readonly at: number; readonly place: number }>();
  const disordered = new Set<string>();
  let now = 0;
  let told = 0;
  while (told < EVENTS) {
    const startedAt = now;
    const next = queue.shift();
    if (next === undefined) throw new Error(`the queue is empty after ${told} events`);
    const before = served.get(next.channelId);
    if (before !== undefined && now - before.at < RATE_LIMIT_MS) {
      queue.push(next);
      now += REQUEUED_MS;
    } else {
      now += LATENCY_MS;
      told += 1;
      if (before !== undefined && before.place > next.place) disordered.add(next.channelId);
      served.set(next.channelId, { at: now, place: next.place });
    }
    // The last event ends the run; before it the loop waits for its next second.
    if (told < EVENTS) now = Math.max(now, startedAt + TICK_MS);
  }
  if (served.size !== CHANNELS) throw new Error('not every channel was served');
  return { drainMs: now, disordered: disordered.size };
}
