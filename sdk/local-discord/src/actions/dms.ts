import { ChannelType } from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import { LocalChannel } from '../state/channel.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';

/** The DM of two users: the one they have, or a new one. @throws 50007 with oneself or between bots */
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
