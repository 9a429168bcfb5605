import { type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import { type AnyThreadChannel, ChannelType, type NewsChannel, type TextChannel } from 'discord.js';
import type { Parts } from '../../parts.js';
import { channelOf } from '../../reaching/channels.js';
import { channelField, reasonField } from '../../reaching/fields.js';
import { demand, READING } from '../../reaching/may.js';
import { channelPlace, placeOf } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { channelInSentence, nameText } from '../../reading/names.js';
import { post } from '../../sending/post.js';
import { replyTarget } from '../../sending/reply-target.js';

const input = z.object({
  channelId: channelField,
  name: z.string().trim().min(1).max(100).describe('Name'),
  messageId: z.string().max(200).optional().describe('The message of that channel to start it from: its id'),
  message: z.string().min(1).max(20_000).optional().describe('What to say in it first'),
  private: z.boolean().default(false).describe('Only for those who are invited'),
  reason: reasonField,
});

interface CreatedThread {
  readonly id: string;
  readonly name: string;
  readonly messageIds: readonly string[];
}

export function createThread(parts: Parts): ToolDefinition<typeof input, CreatedThread> {
  const tool = 'discord_create_thread';
  return {
    name: tool,
    description: 'Start a thread in a channel, from a message or on its own, optionally with a first message.',
    input,
    risk: 'write',
    access: { member: READING, bot: READING },
    place: ({ channelId }) => channelPlace(parts.client, channelId),
    examples: [
      'start a thread called {name} in {channelId}',
      'start a thread called {name} from message {messageId} in {channelId}',
    ],
    present: {
      sentence: ({ name, channelId }) =>
        `I'll start the thread ${name} in ${channelInSentence(parts.client, channelId)}`,
      said: ['name'],
      action: 'Start thread',
      success: (_, { id, name, messageIds }) =>
        `✓ Started the thread ${nameText(name)} (${id})${messageIds.length === 0 ? '' : ` with message ${messageIds.join(', ')}`}.`,
      cancelled: ({ name }) => `Cancelled starting the thread ${name}.`,
    },
    async run({ channelId, name, messageId, message, private: isPrivate, reason }, context) {
      const caller = { actor: context.actor, tool };
      const channel = await channelOf(parts.client, channelId);
      if (channel.type !== ChannelType.GuildText && channel.type !== ChannelType.GuildAnnouncement) {
        throw new UserError('Threads are started in text channels; a forum has posts instead.');
      }
      await demand(parts, caller, placeOf(channel), isPrivate ? 'CreatePrivateThreads' : 'CreatePublicThreads');
      if (message !== undefined) await demand(parts, caller, placeOf(channel), 'SendMessagesInThreads');
      if (isPrivate && messageId !== undefined) throw new UserError('A thread from a message is never private.');
      const from = messageId === undefined ? undefined : await replyTarget(parts, caller, channel, messageId);
      const about = { name, reason: auditReason(parts, caller, reason) };
      const thread = await (from?.startThread(about) ?? startIn(channel, isPrivate, about));
      await parts.sent.remember(thread.id, [thread.id], context.actor);
      // The bot has started it: without this they could not even see it.
      if (isPrivate) await thread.members.add(context.actor.userId);
      const posted = message === undefined ? undefined : await post(parts, caller, context, thread, { text: message });
      return { id: thread.id, name: thread.name, messageIds: posted?.messageIds ?? [] };
    },
  };
}

/** In an announcement channel there is only one kind of thread. */
async function startIn(
  channel: TextChannel | NewsChannel,
  isPrivate: boolean,
  about: { readonly name: string; readonly reason: string },
): Promise<AnyThreadChannel> {
  if (channel.type === ChannelType.GuildAnnouncement) {
    if (isPrivate) throw new UserError('There are no private threads in an announcement channel.');
    return channel.threads.create({ ...about, type: ChannelType.AnnouncementThread });
  }
  return channel.threads.create({ ...about, type: isPrivate ? ChannelType.PrivateThread : ChannelType.PublicThread });
}
