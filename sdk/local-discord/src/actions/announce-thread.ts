import { ChannelType, GatewayIntentBits } from 'discord-api-types/v10';
import { audience, broadcastEach } from '../gateway/dispatch.js';
import type { GatewaySession } from '../gateway/session.js';
import { memberPayload } from '../payload/member.js';
import { isThreadType, threadMemberPayload, threadPayload } from '../payload/thread.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';

export function announceThread(world: World, thread: LocalChannel): void {
  broadcastEach(world, 'THREAD_UPDATE', { channel: thread }, (application) =>
    threadPayload(thread, isThreadType(thread.type) ? thread.type : ChannelType.PublicThread, application.id),
  );
  world.notify({ type: 'channelEdit', channel: thread });
}

/**
 * THREAD_MEMBERS_UPDATE; a bot that loses sight of the thread by it must still hear, so the caller may name who hears. Without the intent for
 * members a bot only hears of itself: https://docs.discord.com/developers/events/gateway-events#thread-members-update
 */
export function announceThreadMember(
  world: World,
  thread: LocalChannel,
  change: { added?: LocalUser; removed?: LocalUser },
  heard: GatewaySession[] = audience(world, 'THREAD_MEMBERS_UPDATE', { channel: thread }),
): void {
  const { guild } = thread;
  if (!guild || !thread.thread) return;
  const member = change.added && guild.members.get(change.added.id);
  const payload = {
    id: thread.id,
    guild_id: guild.id,
    member_count: thread.thread.members.size,
    ...(member
      ? {
          added_members: [
            {
              ...threadMemberPayload(thread, member.user.id, world.clock.now()),
              member: memberPayload(member),
              presence: null,
            },
          ],
        }
      : {}),
    ...(change.removed ? { removed_member_ids: [change.removed.id] } : {}),
  };
  const json = JSON.stringify(payload);
  const changed = change.added ?? change.removed;
  for (const session of heard) {
    const hearsOfAll = (session.intents & GatewayIntentBits.GuildMembers) !== 0;
    if (hearsOfAll || session.application.user === changed) session.dispatch('THREAD_MEMBERS_UPDATE', json);
  }
}
