import type { Guild, GuildMember } from 'discord.js';
import type { Found } from '../place.js';
import { orNothing } from './fetch.js';
import { idIn, only, plainName } from './names.js';

/** No name in Discord is longer. */
const MAX_NAME_LENGTH = 32;
/** What Discord answers at most to one search. */
const SEARCH_LIMIT = 100;

/** A member of the guild by mention, id, user name, display name or nickname (whole names only, so that nobody is hit by chance). */
export async function findMember(guild: Guild, typed: string): Promise<Found<GuildMember>> {
  const id = idIn(typed, /^<@!?(\d+)>$/);
  if (id !== undefined) {
    const member = await orNothing(guild.members.fetch(id));
    return member === undefined ? { problem: 'That user is not a member of this server.' } : { value: member };
  }
  const name = plainName(typed, '@');
  if (name === '' || name.length > MAX_NAME_LENGTH) return only<GuildMember>([], 'member', typed, nameOf);
  return only(await membersCalled(guild, name), 'member', typed, nameOf);
}

async function membersCalled(guild: Guild, name: string): Promise<readonly GuildMember[]> {
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

/** Those of that name; the one whose user name it is comes alone. */
function matching(members: Iterable<GuildMember>, name: string): readonly GuildMember[] {
  const all = [...members];
  const byUsername = all.filter((member) => member.user.username.toLowerCase() === name);
  return byUsername.length > 0 ? byUsername : all.filter((member) => namesOf(member).includes(name));
}

function namesOf(member: GuildMember): readonly string[] {
  return [member.displayName, member.user.displayName].map((name) => name.toLowerCase());
}

function nameOf(member: GuildMember): string {
  return member.user.tag;
}
