import { broadcast } from '../gateway/dispatch.js';
import { memberPayload } from '../payload/member.js';
import { requireInChannel } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';

/** Shows "… is typing" for ten seconds. @throws 50001, 50013 */
export function startTyping(world: World, user: LocalUser, channel: LocalChannel): void {
  const now = world.clock.now();
  requireInChannel(channel, user, now, 'SendMessages');
  const member = channel.guild?.members.get(user.id);
  broadcast(
    world,
    'TYPING_START',
    { channel },
    {
      channel_id: channel.id,
      user_id: user.id,
      timestamp: Math.floor(now / 1_000),
      ...(channel.guild ? { guild_id: channel.guild.id } : {}),
      ...(member ? { member: memberPayload(member) } : {}),
    },
  );
  world.notify({ type: 'typing', channel, user });
}
