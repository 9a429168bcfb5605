import { UserError } from '@cinnabar/sdk';
import { type Client, DiscordAPIError, type Guild, type GuildMember, type Role } from 'discord.js';
import { isGone } from './discord-errors.js';
import { readId } from './references.js';

/** @throws UserError */
export function guildOf(client: Client, text: string): Guild {
  const guild = client.guilds.cache.get(readId(text, 'server'));
  if (guild === undefined) throw new UserError('There is no server with that id that I can reach.');
  return guild;
}

/** The member as Discord has them now. @throws UserError */
export async function memberOf(guild: Guild, text: string): Promise<GuildMember> {
  try {
    return await guild.members.fetch({ user: readId(text, 'user'), force: true });
  } catch (error) {
    if (isGone(error)) throw new UserError('There is no member with that id here.');
    throw error;
  }
}

/** @throws UserError */
export function roleOf(guild: Guild, text: string): Role {
  const role = guild.roles.cache.get(readId(text, 'role'));
  if (role === undefined) throw new UserError('There is no role with that id here.');
  return role;
}

const NOT_ALLOWED = 50001;

/** Discord lists members only for applications that may have the intent. @throws UserError */
export async function listingMembers<T>(listed: Promise<T>): Promise<T> {
  try {
    return await listed;
  } catch (error) {
    if (!(error instanceof DiscordAPIError) || error.code !== NOT_ALLOWED) throw error;
    throw new UserError(
      'Discord does not list members for me: the "Server Members Intent" of my application has to be switched on first.',
    );
  }
}
