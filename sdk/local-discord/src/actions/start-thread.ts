import { ChannelType } from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import { requireInChannel } from '../rules/permissions.js';
import { LocalChannel } from '../state/channel.js';
import type { LocalMessage } from '../state/message.js';
import type { LocalUser, StartThreadOptions } from '../state/user.js';
import type { World } from '../state/world.js';
import type { MessageDraft } from './message-draft.js';
import { sendMessage } from './send-message.js';
import { createThread } from './threads.js';

/** Starts a thread as a user or bot would. @throws 50001, 50006, 50013, 50024, 160004 */
export function startThread(
  world: World,
  user: LocalUser,
  where: LocalChannel | LocalMessage,
  name: string,
  options: StartThreadOptions & { readonly message?: MessageDraft | undefined },
): LocalChannel {
  const channel = where instanceof LocalChannel ? where : where.channel;
  const { content, message = content === undefined ? undefined : { content }, private: secret, ...rest } = options;
  const isForum = channel.type === ChannelType.GuildForum;
  const permission = isForum ? 'SendMessages' : secret ? 'CreatePrivateThreads' : 'CreatePublicThreads';
  requireInChannel(channel, user, world.clock.now(), permission);
  if (isForum && !message) throw discordError('emptyMessage');
  const thread = createThread(world, channel, user, {
    ...rest,
    name,
    type: secret ? ChannelType.PrivateThread : ChannelType.PublicThread,
    ...(where instanceof LocalChannel ? {} : { from: where }),
  });
  if (message) sendMessage(world, user, thread, isForum ? { ...message, id: thread.id } : message);
  return thread;
}
