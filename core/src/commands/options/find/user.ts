import type { User } from 'discord.js';
import type { Found, Place } from '../place.js';
import { orNothing } from './fetch.js';
import { findMember } from './member.js';
import { idIn, only, plainName } from './names.js';

/** A user by mention or id; by name among the members of the guild, or among the two sides of a direct message. */
export async function findUser({ client, guild, user }: Place, typed: string): Promise<Found<User>> {
  const id = idIn(typed, /^<@!?(\d+)>$/);
  if (id !== undefined) {
    const known = await orNothing(client.users.fetch(id));
    return known === undefined ? { problem: 'There is no user with that id.' } : { value: known };
  }
  if (guild !== null) {
    const found = await findMember(guild, typed);
    return 'value' in found ? { value: found.value.user } : found;
  }
  const name = plainName(typed, '@');
  const sides = client.user === null ? [user] : [user, client.user];
  const called = sides.filter((side) => [side.username, side.displayName].some((one) => one.toLowerCase() === name));
  return only(called, 'user', typed, (one) => one.tag);
}
