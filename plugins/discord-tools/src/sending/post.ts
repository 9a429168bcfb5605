import { sentenceOf, type ToolContext, UserError } from '@cinnabar/sdk';
import type { Message, MessageMentionOptions, PartialGroupDMChannel, SendableChannels } from 'discord.js';
import type { Caller, Parts } from '../parts.js';
import { sentenceFor } from '../reaching/discord-errors.js';
import { demand } from '../reaching/may.js';
import { placeOf } from '../reaching/places.js';
import { stopWhenCancelled } from './cancelled.js';
import { canSee, mentionsIn } from './mentions.js';
import { messageParts, nonceFor } from './parts.js';

type Channel = Exclude<SendableChannels, PartialGroupDMChannel>;
type Sending = Pick<ToolContext, 'key' | 'signal'>;

export interface Posted {
  readonly channelId: string;
  /** All of them, in order: a long text is several. */
  readonly messageIds: readonly string[];
}

interface Post {
  readonly text: string;
  readonly replyTo?: Message | undefined;
}

/** Says something in a channel, as one message or several. Whoever it answers is pinged when they can see it. */
export async function post(
  parts: Parts,
  caller: Caller,
  sending: Sending,
  channel: Channel,
  { text, replyTo }: Post,
): Promise<Posted> {
  const contents = messageParts(text);
  // The bot could: to it, as to moderators, a locked thread is open.
  if (channel.isThread() && channel.locked === true) await demand(parts, caller, placeOf(channel), 'ManageThreads');
  const mentions = await mentionsIn(parts, caller, channel, text);
  const repliedUser = replyTo !== undefined && (channel.isDMBased() || (await canSee(channel, replyTo.author.id)));
  const allowedMentions = { ...mentions, repliedUser };
  const messageIds = await postParts(parts, caller, sending, channel, { contents, allowedMentions, replyTo });
  return { channelId: channel.id, messageIds };
}

interface PostParts {
  readonly contents: readonly string[];
  readonly allowedMentions: MessageMentionOptions;
  /** What the first of them answers. */
  readonly replyTo?: Message | undefined;
}

/** Sends texts one after another, and remembers for whom. @throws UserError that tells which were sent when a later one fails */
export async function postParts(
  parts: Parts,
  { actor }: Caller,
  { key, signal }: Sending,
  channel: Channel,
  { contents, allowedMentions, replyTo }: PostParts,
): Promise<readonly string[]> {
  const sent: string[] = [];
  try {
    for (const [index, content] of contents.entries()) {
      stopWhenCancelled(signal);
      const reply = index === 0 && replyTo !== undefined ? { reply: { messageReference: replyTo.id } } : {};
      const message = await channel.send({ content, ...reply, allowedMentions, ...nonceFor(key, index) });
      sent.push(message.id);
    }
  } catch (error) {
    if (sent.length === 0) throw error;
    const why = sentenceFor(error) ?? sentenceOf(error) ?? 'Then it was interrupted.';
    throw new UserError(`Only ${sent.length} of ${contents.length} messages were sent (${sent.join(', ')}). ${why}`, {
      cause: error,
    });
  } finally {
    await parts.sent.remember(channel.id, sent, actor);
  }
  return sent;
}

/** "message 123", "messages 123, 124". */
export function idsText({ messageIds }: Pick<Posted, 'messageIds'>): string {
  return `${messageIds.length === 1 ? 'message' : 'messages'} ${messageIds.join(', ')}`;
}
