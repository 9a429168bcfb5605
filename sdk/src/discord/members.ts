import type { Guild, GuildMember } from 'discord.js';

/** No name in Discord is longer. */
const MAX_NAME_LENGTH = 32;
/** What Discord answers at most to one search. */
const SEARCH_LIMIT = 100;

/**
 * The members of a guild who have a name: as user name, display name or nickname, whole and without regard to case, with or without `@`.
 * Of several, the one whose user name it is comes alone. Asks Discord where the cache cannot be certain.
 */
export async function membersCalled(guild: Guild, typed: string): Promise<readonly GuildMember[]> {
  const name = (typed.startsWith('@') ? typed.slice(1) : typed).toLowerCase();
  if (name === '' || name.length > MAX_NAME_LENGTH) return [];
  const cached = matching(guild.members.cache.values(), name);
  // A user name is unique; any other name might also belong to a member that is not cached.
  const certain = cached.some((member) => member.user.username === name) || isComplete(guild);
  if (certain) return cached;
  const found = await guild.members.search({ query: name, limit: SEARCH_LIMIT });
  return matching(new Set([...cached, ...found.values()]), name);
}

function isComplete(guild: Guild): boolean {
  return guild.members.cache.size >= guild.memberCount;
}

function matching(members: Iterable<GuildMember>, name: string): readonly GuildMember[] {
  const all = [...members];
  const byUsername = all.filter((member) => member.user.username.toLowerCase() === name);
  return byUsername.length > 0 ? byUsername : all.filter((member) => namesOf(member).includes(name));
}

function namesOf(member: GuildMember): readonly string[] {
  return [member.displayName, member.user.displayName].map((name) => name.toLowerCase());
}
