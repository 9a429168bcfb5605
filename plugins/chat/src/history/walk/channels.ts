import type { Clock } from '@cinnabar/sdk';
import type { Guild, SendableChannels } from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { Ask } from '../ask.js';

/** Finds channels of a guild by id. */
export interface Channels {
  /** `undefined` when there is none that holds messages, or the bot cannot see it. Archived threads are asked for, once. */
  find(guild: Guild, channelId: string, ask: Ask): Promise<SendableChannels | undefined>;
}

const REMEMBERED = 1_000;
const ABSENCE_MS = 10 * 60_000;

export function createChannels(clock: Clock): Channels {
  const absent = new LRUCache<string, true>({
    max: REMEMBERED,
    ttl: ABSENCE_MS,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  });
  return {
    async find(guild, channelId, ask) {
      const known = guild.channels.cache.get(channelId);
      if (known !== undefined) return known.isSendable() ? known : undefined;
      const key = `${guild.id}/${channelId}`;
      if (absent.has(key)) return undefined;
      const fetched = await ask(() => guild.channels.fetch(channelId, { force: true })).catch(() => null);
      // Discord answers for any channel that the bot can see, of whatever guild.
      if (fetched?.guild.id === guild.id && fetched.isSendable()) return fetched;
      absent.set(key, true);
      return undefined;
    },
  };
}
