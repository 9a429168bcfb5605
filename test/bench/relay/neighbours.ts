import type { FairBounds } from '@cinnabar/sdk';
import { createChance } from '../../campaign/settings/chance.js';
import { DONE, event, FAILED, openQueueHarness } from '../../plugins/relay/queue/harness.js';
import { LATENCY_MS, RATE_LIMIT_MS } from './load.js';

/** The behaviour of the agent in the other guild. */
type Neighbour = 'answers' | 'fails at once' | 'fails after a minute';

const EVERY_MS = 500;
const CHANNELS = 6;
const NEIGHBOUR_CHANNELS = 40;
/** Few enough worker slots that the guilds compete for them. */
const FAIR = { total: 4, perGuild: 2 };

/**
 * Two guilds with conversations of some minutes, one of them in many channels. Measures the 95th percentile of the time from an event's arrival to its
 * completion by the agent in the smaller guild.
 */
export async function p95Beside(neighbour: Neighbour, minutes: number, bound: FairBounds = FAIR): Promise<number> {
  await using town = await openQueueHarness({
    rules: () => ({ rateLimitMs: RATE_LIMIT_MS }),
    queue: { mostTogether: 10, bound: () => bound },
    answer([{ guildId }]) {
      if (guildId === 'ours' || neighbour === 'answers') return { after: LATENCY_MS, delivery: DONE };
      return { after: neighbour === 'fails at once' ? 1 : 60_000, delivery: FAILED };
    },
  });
  const offeredAt = new Map<string, number>();
  const chance = createChance(2026);
  for (let n = 0; n < (minutes * 60_000) / EVERY_MS; n += 1) {
    offeredAt.set(`ours-${n}`, town.clock.now());
    await town.offer(
      event(`ours-${n}`, `ours/${chance.below(CHANNELS)}`),
      event(`theirs-${n}a`, `theirs/${chance.below(NEIGHBOUR_CHANNELS)}`),
      event(`theirs-${n}b`, `theirs/${chance.below(NEIGHBOUR_CHANNELS)}`),
    );
    await town.pass(EVERY_MS);
  }
  await town.drain();
  const waits = town.told
    .filter(({ delivery }) => delivery === DONE)
    .flatMap(({ ids, to = 0 }) => ids.map((id) => to - (offeredAt.get(id) ?? Number.NaN)))
    .filter((wait) => !Number.isNaN(wait))
    .sort((a, b) => a - b);
  if (waits.length !== offeredAt.size) throw new Error(`${waits.length} of ${offeredAt.size} events were told`);
  return waits[Math.ceil(waits.length * 0.95) - 1] ?? Number.NaN;
}
