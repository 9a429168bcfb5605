import { type Clock, maxEntries, unlessUnreachable } from '@cinnabar/sdk';
import {
  type Client,
  Events,
  GatewayIntentBits,
  type Guild,
  type GuildMember,
  type PrivateThreadChannel,
} from 'discord.js';
import { LRUCache } from 'lru-cache';

/** How long an answer of Discord holds where no event tells of a change; a call that is about to run asks anew in any case. */
const RECENT_MS = 5_000;
const MOST_REMEMBERED = 5_000;

/** Who is in a guild, with which roles, and who is in a private thread: as Discord has it now. */
export interface Memberships {
  /** Whether Discord tells of every change of members and of threads' members. */
  live(): boolean;
  /** `undefined` for who is not in the guild. @param fresh asks anew, unless Discord tells of changes */
  member(guild: Guild, userId: string, fresh?: boolean): Promise<GuildMember | undefined>;
  isInThread(thread: PrivateThreadChannel, userId: string): Promise<boolean>;
  /** Lets go of what was asked of one person: what is decided next asks anew. */
  forget(userId: string): void;
}

/**
 * The one place where the host learns of memberships. With the intent GuildMembers the gateway keeps the caches of discord.js true. Without it a
 * cached member is as old as their last message, so Discord is asked, and its answer holds for the few seconds that one call takes.
 */
export function createMemberships(client: Client, clock: Clock): Memberships {
  const cache = { ...maxEntries(MOST_REMEMBERED), ttl: RECENT_MS, ttlResolution: 0, perf: { now: () => clock.now() } };
  const members = new LRUCache<string, Promise<GuildMember | undefined>>(cache);
  const threads = new LRUCache<string, Promise<boolean>>(cache);
  const live = () => client.options.intents.has(GatewayIntentBits.GuildMembers);

  const keyOf = (placeId: string, userId: string) => `${placeId}/${userId}`;

  const forget = (userId: string) => {
    for (const known of [members, threads]) {
      for (const key of known.keys()) if (key.endsWith(`/${userId}`)) known.delete(key);
    }
  };
  const forgetPlace = (placeId: string) => {
    for (const known of [members, threads]) {
      for (const key of known.keys()) if (key.startsWith(`${placeId}/`)) known.delete(key);
    }
  };
  client.on(Events.GuildMemberUpdate, (_before, { id }) => forget(id));
  client.on(Events.GuildMemberRemove, ({ id }) => forget(id));
  client.on(Events.GuildBanAdd, ({ user }) => forget(user.id));
  client.on(Events.GuildDelete, ({ id }) => forgetPlace(id));
  client.on(Events.ThreadMembersUpdate, (_added, _removed, { id }) => forgetPlace(id));
  client.on(Events.ThreadDelete, ({ id }) => forgetPlace(id));

  /** Callers at one time share one request; what failed is asked again. */
  const asked = <T>(known: LRUCache<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const answer = ask();
    known.set(key, answer);
    answer.catch(() => {
      if (known.get(key) === answer) known.delete(key);
    });
    return answer;
  };

  return {
    live,
    forget,
    async member(guild, userId, fresh = false) {
      if (live()) return unlessUnreachable(guild.members.fetch(userId));
      const key = keyOf(guild.id, userId);
      if (fresh) members.delete(key);
      return asked(members, key, async () => {
        const member = await unlessUnreachable(guild.members.fetch({ user: userId, force: true }));
        // Others would go on taking them for a member.
        if (member === undefined) guild.members.cache.delete(userId);
        return member;
      });
    },
    async isInThread(thread, userId) {
      if (live()) return isIn(thread, userId, false);
      return asked(threads, keyOf(thread.id, userId), () => isIn(thread, userId, true));
    },
  };
}

async function isIn(thread: PrivateThreadChannel, userId: string, force: boolean): Promise<boolean> {
  return (await unlessUnreachable(thread.members.fetch({ member: userId, force }))) !== undefined;
}
