import { nonceOf, type Profile, sendAs, sentenceOf, type ToolContext, UserError } from '@cinnabar/sdk';
import type { Message, PartialGroupDMChannel, SendableChannels } from 'discord.js';
import type { Caller, Parts } from '../parts.js';
import { sentenceFor } from '../reaching/discord-errors.js';
import { requireUnlocked } from '../reaching/threads-in.js';
import { stopWhenCancelled } from './cancelled.js';
import { type Manner, mannerOf } from './manner.js';
import { canSee } from './mentions.js';
import { requirePause } from './slow-mode.js';
import { messagesFor } from './spoken-for.js';

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

/** Says something in a channel, as one message or several, under the agent's own name where it has one. The author of the message that it answers is pinged when they can see it. */
export async function post(
  parts: Parts,
  caller: Caller,
  sending: Sending,
  channel: Channel,
  { text, replyTo }: Post,
): Promise<Posted> {
  const guildId = channel.isDMBased() ? null : channel.guildId;
  const { identity } = caller.actor;
  const contents = await messagesFor(parts, caller, guildId, text);
  await requireUnlocked(parts, caller, channel);
  await requirePause(parts, caller, channel);
  const { allowedMentions, ...manner } = await mannerOf(parts, caller, channel, text);
  const repliedUser =
    replyTo !== undefined && (channel.isDMBased() || (await canSee(parts, channel, replyTo.author.id)));
  const messageIds = await postParts(parts, caller, sending, channel, {
    contents,
    manner: { ...manner, allowedMentions: { ...allowedMentions, repliedUser } },
    replyTo,
    profile: identity === undefined ? undefined : await parts.identities.profile(identity, guildId),
  });
  return { channelId: channel.id, messageIds };
}

interface PostParts {
  readonly contents: readonly string[];
  readonly manner: Manner;
  /** What the first of them answers. */
  readonly replyTo?: Message | undefined;
  /** Under which name and picture; the bot's own without it. */
  readonly profile?: Profile | undefined;
}

/** Sends texts one after another, and remembers for whom. @throws UserError as `sendInTurn` */
export async function postParts(
  parts: Parts,
  { actor }: Caller,
  { key, signal }: Sending,
  channel: Channel,
  { contents, manner, replyTo, profile }: PostParts,
): Promise<readonly string[]> {
  const sent: string[] = [];
  try {
    await sendInTurn(contents, signal, sent, (content, index) => {
      const reply = index === 0 && replyTo !== undefined ? { reply: { messageReference: replyTo.id } } : {};
      const message = { content, ...reply, ...manner };
      if (profile === undefined) return channel.send({ ...message, ...nonceOf(key, index) });
      return sendAs(channel, message, `${key}:${index}`, { clock: parts.clock, signal, profile });
    });
  } finally {
    await parts.sent.remember(channel.id, sent, actor);
  }
  return sent;
}

/**
 * @param sent is given the id of each message, also of those before one that fails
 * @throws UserError that tells which were sent when a later one fails
 */
export async function sendInTurn(
  contents: readonly string[],
  signal: AbortSignal,
  sent: string[],
  send: (content: string, index: number) => Promise<Pick<Message, 'id'>>,
): Promise<void> {
  try {
    for (const [index, content] of contents.entries()) {
      stopWhenCancelled(signal);
      sent.push((await send(content, index)).id);
    }
  } catch (error) {
    if (sent.length === 0) throw error;
    const why = sentenceFor(error) ?? sentenceOf(error) ?? 'Then it was interrupted.';
    throw new UserError(`Only ${sent.length} of ${contents.length} messages were sent (${sent.join(', ')}). ${why}`, {
      cause: error,
    });
  }
}

/** "message 123", "messages 123, 124". */
export function idsText({ messageIds }: Pick<Posted, 'messageIds'>): string {
  return `${messageIds.length === 1 ? 'message' : 'messages'} ${messageIds.join(', ')}`;
}
