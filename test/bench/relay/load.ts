import { createChance } from '../../campaign/settings/chance.js';
import { event } from '../../plugins/relay/queue/harness.js';

export const EVENTS = 1_000;
export const CHANNELS = 100;
export const GUILDS = 10;
export const LATENCY_MS = 200;
export const RATE_LIMIT_MS = 2_000;
/** Number of channels that the host serves simultaneously, and a guild's share of them. */
export const BOUND = { total: 32, perGuild: 16 };

/** Ten events in each channel, in random order, all queued from the start, numbered in order of arrival. */
export function load(): readonly ReturnType<typeof event>[] {
  const chance = createChance(2026);
  const channels = Array.from({ length: EVENTS }, (_, n) => ({ channel: n % CHANNELS, rank: chance.below(1_000_000) }));
  return channels
    .sort((a, b) => a.rank - b.rank)
    .map(({ channel }, n) => event(`m${n}`, `guild-${channel % GUILDS}/${channel}`));
}

/**
 * The minimum time for the load, with this number of channels at a time and the rate limit between the end of one batch of a channel and the start of its next
 * one. The channel that starts last cannot start before all others have; from then on it needs its own batches and the pauses between them. All batches must
 * fit into the available slots.
 */
export function theoreticalMs(batchesPerChannel: number, slots: number): number {
  const lastStartMs = (Math.ceil(CHANNELS / slots) - 1) * LATENCY_MS;
  const ownMs = batchesPerChannel * LATENCY_MS + (batchesPerChannel - 1) * RATE_LIMIT_MS;
  const workMs = Math.ceil((batchesPerChannel * CHANNELS) / slots) * LATENCY_MS;
  return Math.max(lastStartMs + ownMs, workMs);
}
