import { ChannelType } from 'discord-api-types/v10';
import { z } from 'zod';
import { discordError } from '../errors.js';
import { broadcast } from '../gateway/dispatch.js';
import { channelPayload } from '../payload/channels.js';
import { ownUserPayload, userPayload } from '../payload/users.js';
import { imageData, imageHash, snowflake } from '../rest/message-form.js';
import { personRoute, route } from '../rest/request.js';
import { guildPermissions } from '../rules/permissions.js';
import { compareIds } from '../snowflakes.js';
import { LocalChannel } from '../state/channels.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { findGuild, findUser } from './find.js';
import { removeMember } from './members.js';

const dmForm = z.object({ recipient_id: snowflake });
const editForm = z.object({ username: z.string().min(2).max(32).optional(), avatar: imageData.nullish() });

export const userRoutes = [
  personRoute('GET', '/users/@me', 'identify', ({ user }) => ownUserPayload(user)),
  route('PATCH', '/users/@me', ({ world, application, user, form }) => {
    const { username, avatar } = form(editForm);
    if (username !== undefined) user.username = username;
    if (avatar !== undefined) user.avatar = avatar === null ? null : imageHash(avatar);
    const own = ownUserPayload(user);
    broadcast(world, 'USER_UPDATE', { application }, own);
    return own;
  }),
  route('GET', '/users/@me/guilds', ({ world, user }) =>
    [...world.guilds.values()]
      .filter((guild) => guild.members.has(user.id))
      .sort((a, b) => compareIds(a.id, b.id))
      .map((guild) => {
        const member = guild.members.get(user.id);
        const permissions = member ? guildPermissions(member, world.clock.now()) : 0n;
        return {
          id: guild.id,
          name: guild.name,
          icon: null,
          banner: null,
          owner: guild.ownerId === user.id,
          permissions: permissions.toString(),
          features: [],
        };
      }),
  ),
  route('DELETE', '/users/@me/guilds/:guildId', ({ world, user, param }) => {
    const member = findGuild(world, param('guildId'), user).members.get(user.id);
    if (!member) throw discordError('unknownGuild');
    removeMember(world, member);
    return undefined;
  }),
  route('POST', '/users/@me/channels', ({ world, user, form }) => {
    const { recipient_id } = form(dmForm);
    return channelPayload(openDm(world, user, findUser(world, recipient_id)), user.id);
  }),
  route('GET', '/users/:userId', ({ world, param }) => userPayload(findUser(world, param('userId')))),
];

/** The DM of two users: the existing one, or a new one. @throws 50007 with oneself or between bots */
export function openDm(world: World, from: LocalUser, to: LocalUser): LocalChannel {
  if (from === to || (from.bot && to.bot)) throw discordError('cannotDm');
  const present = from.dms.get(to.id);
  if (present) return present;
  const channel = new LocalChannel(world.nextId(), ChannelType.DM, '', undefined);
  channel.recipients.push(from, to);
  from.dms.set(to.id, channel);
  to.dms.set(from.id, channel);
  world.channels.set(channel.id, channel);
  return channel;
}
