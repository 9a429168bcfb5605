import { type DeliveredBatch, DONE, openQueueHarness } from '../../plugins/relay/queue/harness.js';
import { BOUND, LATENCY_MS, load, RATE_LIMIT_MS } from './load.js';

interface Drained {
  readonly drainMs: number;
  readonly lost: number;
  readonly doubled: number;
  /** Number of channels in which events were delivered out of order. */
  readonly disordered: number;
  /** Real time, including writes to the disk. */
  readonly realMs: number;
}

/** The queue with its journal on the disk, on the simulated clock. */
export async function drain(mostTogether: number): Promise<Drained> {
  await using town = await openQueueHarness({
    latencyMs: LATENCY_MS,
    rules: () => ({ rateLimitMs: RATE_LIMIT_MS }),
    queue: { mostTogether, bound: () => BOUND },
  });
  const events = load();
  const startedAt = town.clock.now();
  const startedReally = performance.now();
  await town.offer(...events);
  await town.drain();
  const realMs = performance.now() - startedReally;

  const done = town.told.filter(({ delivery }) => delivery === DONE).flatMap(({ ids }) => ids);
  const told = new Set(town.told.flatMap(({ ids }) => ids));
  const channels = new Map<string, DeliveredBatch[]>();
  for (const one of town.told) channels.set(one.channelId, [...(channels.get(one.channelId) ?? []), one]);
  return {
    drainMs: Math.max(...town.told.map(({ to = 0 }) => to)) - startedAt,
    lost: events.filter(({ id }) => !told.has(id)).length,
    doubled: done.length - new Set(done).size,
    disordered: [...channels.values()].filter(isDisordered).length,
    realMs,
  };
}

function isDisordered(told: readonly DeliveredBatch[]): boolean {
  const places = told.flatMap(({ ids }) => ids.map((id) => Number(id.slice(1))));
  return places.some((place, n) => place < (places[n - 1] ?? 0));
}
