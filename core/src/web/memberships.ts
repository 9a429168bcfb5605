import type { Clock } from '@cinnabar/sdk';
import type { Client, Guild } from 'discord.js';
import { LRUCache } from 'lru-cache';

/** Guilds in which it is asked of Discord whether the person is a member. */
const MOST_ASKED = 100;
const MEMBERSHIPS_MS = 5 * 60_000;

/** The guilds that a person and the bot are both in. Where it is not in memory, Discord is asked, for some of them, and the answer is kept for minutes. */
export function createMemberships(client: Client, clock: Clock) {
  const known = new LRUCache<string, { readonly ids: ReadonlySet<string>; readonly until: number }>({ max: 1_000 });
  return async (userId: string): Promise<readonly Guild[]> => {
    const all = [...client.guilds.cache.values()];
    const kept = known.get(userId);
    if (kept !== undefined && kept.until > clock.now())
      return sorted(all.filter(({ id: guildId }) => kept.ids.has(guildId)));
    let asked = 0;
    const found: Guild[] = [];
    for (const guild of all) {
      if (guild.ownerId === userId || guild.members.cache.has(userId)) found.push(guild);
      else if (asked < MOST_ASKED) {
        asked += 1;
        if ((await guild.members.fetch(userId).catch(() => undefined)) !== undefined) found.push(guild);
      }
    }
    known.set(userId, { ids: new Set(found.map((guild) => guild.id)), until: clock.now() + MEMBERSHIPS_MS });
    return sorted(found);
  };
}

const sorted = (guilds: readonly Guild[]): readonly Guild[] =>
  guilds.toSorted((one, other) => one.name.localeCompare(other.name));
