import type { Clock, Logger } from '@cinnabar/sdk';
import { ChannelType, DiscordAPIError, type Guild, type GuildMember, type ThreadChannel } from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { Ask } from '../ask.js';

/** Looks people up, with as few requests as possible: discord.js's cache first, and whoever is not there is not asked for again and again. */
export interface Members {
  /** `undefined` when the guild has no such member, or Discord does not say. */
  find(guild: Guild, userId: string, ask: Ask): Promise<GuildMember | undefined>;
  isInThread(thread: ThreadChannel, userId: string, ask: Ask): Promise<boolean>;
  /** Somebody came or went: what is remembered of the thread is worth nothing. */
  forgetThread(threadId: string): void;
}

const REMEMBERED = 5_000;
const ABSENCE_MS = 10 * 60_000;
/** Without the intent for members, nobody tells when somebody leaves a thread. */
const MEMBERSHIP_MS = 5 * 60_000;
/** What Discord says of an unknown member or user. */
const UNKNOWN: ReadonlySet<number | string> = new Set([10007, 10013]);

export function createMembers(clock: Clock, log: Logger): Members {
  const perf = { now: () => clock.now() };
  const absent = new LRUCache<string, true>({ max: REMEMBERED, ttl: ABSENCE_MS, ttlResolution: 0, perf });
  const inThread = new LRUCache<string, boolean>({ max: REMEMBERED, ttl: MEMBERSHIP_MS, ttlResolution: 0, perf });

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
    async isInThread(thread, userId, ask) {
      if (thread.type !== ChannelType.PrivateThread) return true;
      const key = `${thread.id}/${userId}`;
      const known = inThread.get(key);
      if (known !== undefined) return known;
      try {
        await ask(() => thread.members.fetch({ member: userId, force: true }));
        inThread.set(key, true);
      } catch (error) {
        if (!(error instanceof DiscordAPIError)) throw error;
        inThread.set(key, false);
      }
      return inThread.get(key) ?? false;
    },
    forgetThread(threadId) {
      for (const key of inThread.keys()) if (key.startsWith(`${threadId}/`)) inThread.delete(key);
    },
  };
}
