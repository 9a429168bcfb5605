import { discordError } from '../errors.js';
import type { RestContext } from '../rest/request.js';
import { canView } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalGuild, LocalMember, LocalRole } from '../state/guilds.js';
import type { LocalMessage } from '../state/messages.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';

/** Look-ups that throw Discord's errors: unknown objects by their own code, hidden channels by 50001. */

export function findChannel(world: World, id: string, viewer: LocalUser): LocalChannel {
  const channel = world.channels.get(id);
  if (!channel) throw discordError('unknownChannel');
  if (!canView(channel, viewer, world.clock.now())) throw discordError('missingAccess');
  return channel;
}

export function findGuild(world: World, id: string, viewer: LocalUser): LocalGuild {
  const guild = world.guilds.get(id);
  if (!guild) throw discordError('unknownGuild');
  if (!guild.members.has(viewer.id)) throw discordError('missingAccess');
  return guild;
}

/** An ephemeral message can only be found with its interaction's token. */
export function findMessage(channel: LocalChannel, id: string): LocalMessage {
  const message = channel.messagesById.get(id);
  if (!message || message.ephemeral) throw discordError('unknownMessage');
  return message;
}

export function findMember(guild: LocalGuild, userId: string): LocalMember {
  const member = guild.members.get(userId);
  if (!member) throw discordError('unknownMember');
  return member;
}

export function findUser(world: World, id: string): LocalUser {
  const user = world.users.get(id);
  if (!user) throw discordError('unknownUser');
  return user;
}

export function findRole(guild: LocalGuild, id: string): LocalRole {
  const role = guild.roles.get(id);
  if (!role) throw discordError('unknownRole');
  return role;
}

type Named = Pick<RestContext, 'world' | 'user' | 'param'>;

/** The guild of the path. */
export function guildOf({ world, user, param }: Named): LocalGuild {
  return findGuild(world, param('guildId'), user);
}

/** The channel of the path. */
export function channelOf({ world, user, param }: Named): LocalChannel {
  return findChannel(world, param('channelId'), user);
}

/** The member of the path, in its guild. */
export function memberOf(context: Named): LocalMember {
  return findMember(guildOf(context), context.param('userId'));
}

/** The message of the path, in its channel. */
export function messageOf(context: Named): LocalMessage {
  return findMessage(channelOf(context), context.param('messageId'));
}
