import type { Clock, Logger } from '@cinnabar/sdk';
import { DiscordAPIError, type Guild, type GuildMember } from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { Ask } from '../ask.js';

/**
 * Looks up the authors of old messages, with as few requests as possible: discord.js's cache first, and a missing author is not requested again and
 * again. What one who asks may read is for the host to say (`Access.mayEnter`).
 */
export interface Members {
  /** `undefined` when the guild has no such member, or Discord does not say. */
  find(guild: Guild, userId: string, ask: Ask): Promise<GuildMember | undefined>;
}

const REMEMBERED = 5_000;
const ABSENCE_MS = 10 * 60_000;
/** What Discord says of an unknown member or user. */
const UNKNOWN: ReadonlySet<number | string> = new Set([10007, 10013]);

export function createMembers(clock: Clock, log: Logger): Members {
  const perf = { now: () => clock.now() };
  const absent = new LRUCache<string, true>({ max: REMEMBERED, ttl: ABSENCE_MS, ttlResolution: 0, perf });

  return {
    async find(guild, userId, ask) {
      const known = guild.members.cache.get(userId);
      if (known !== undefined && !known.partial) return known;
      const key = `${guild.id}/${userId}`;
      if (absent.has(key)) return undefined;
      try {
        return await ask(() => guild.members.fetch({ user: userId, force: true }));
      } catch (error) {
        if (error instanceof DiscordAPIError && UNKNOWN.has(error.code)) absent.set(key, true);
        else log.warn('a member could not be looked up', { error, guildId: guild.id, userId });
        return undefined;
      }
    },
  };
}
