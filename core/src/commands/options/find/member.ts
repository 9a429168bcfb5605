import { membersCalled } from '@cinnabar/sdk';
import type { Guild, GuildMember } from 'discord.js';
import type { Found } from '../place.js';
import { orNothing } from './fetch.js';
import { idIn, only } from './names.js';

/** A member of the guild by mention, id, user name, display name or nickname (whole names only, so that nobody is hit by chance). */
export async function findMember(guild: Guild, typed: string): Promise<Found<GuildMember>> {
  const id = idIn(typed, /^<@!?(\d+)>$/);
  if (id !== undefined) {
    const member = await orNothing(guild.members.fetch(id));
    return member === undefined ? { problem: 'That user is not a member of this server.' } : { value: member };
  }
  return only(await membersCalled(guild, typed), 'member', typed, ({ user }) => user.tag);
}
