import { discordError } from '../errors.js';
import { hasChannelPermission } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';

/** Throws 20016 when a person writes again too soon; bots and moderators are exempt. */
export function checkSlowmode(world: World, user: LocalUser, channel: LocalChannel): void {
  if (channel.slowmodeSeconds === 0 || user.bot) return;
  const now = world.clock.now();
  const exempt = ['ManageMessages', 'ManageChannels'] as const;
  if (exempt.some((name) => hasChannelPermission(channel, user, now, name))) return;
  const last = channel.messages.findLast((message) => message.author === user);
  if (last && now - last.createdAt < channel.slowmodeSeconds * 1_000) throw discordError('slowmode');
}
