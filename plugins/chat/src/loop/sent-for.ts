import { type MessageOrigins, withoutMark } from '@cinnabar/sdk';
import type { Guild } from 'discord.js';
import type { HistoryMessage } from '../history/types.js';

/**
 * The messages with those of the bot that it sent for a member as what that member had it say. Otherwise the model would take them for its own
 * words, and stand by them. A line that says for whom a message is counts also where nothing is known of the message any more.
 */
export async function attributed(
  messages: readonly HistoryMessage[],
  origins: Pick<MessageOrigins, 'of'>,
  guild: Guild | null,
): Promise<readonly HistoryMessage[]> {
  const own = new Map<string, string[]>();
  for (const { author, channelId, id } of messages) {
    if (author.self) own.set(channelId, [...(own.get(channelId) ?? []), id]);
  }
  const found = await Promise.all([...own].map(([channelId, ids]) => origins.of(channelId, ids)));
  const known = new Map(found.flatMap((some) => [...some]));
  return messages.map((message) => {
    if (!message.author.self) return message;
    const origin = known.get(message.id);
    const text = withoutMark(message.content);
    if (origin?.kind !== 'sent-for' && text === undefined) return message;
    const userId = origin?.kind === 'sent-for' ? origin.userId : undefined;
    return sentFor(message, userId, guild, text ?? message.content);
  });
}

function sentFor(
  message: HistoryMessage,
  userId: string | undefined,
  guild: Guild | null,
  content: string,
): HistoryMessage {
  const name = userId === undefined ? undefined : guild?.members.cache.get(userId)?.displayName;
  const author = {
    ...message.author,
    self: false,
    speaker: `sent-for/${userId ?? ''}`,
    displayName: `sent for ${name ?? (userId === undefined ? 'a member' : `member ${userId}`)}`,
  };
  return { ...message, author, content };
}
