import { mayRefer, nonceOf, textMessages } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { RelayEvent } from '../types.js';

/**
 * Says something where an event was, as a reply to its message when there is one. Only its author can be pinged.
 * @param key a request that is repeated under the same key makes no second message
 * @returns the ids of the messages; none where the bot cannot write
 */
export async function sayAt(event: RelayEvent, text: string, key: string, client: Client): Promise<readonly string[]> {
  const { facts, userId, channelId } = event;
  const channel = await client.channels.fetch(channelId);
  if (channel?.isSendable() !== true) return [];
  const said = facts.messageId;
  const allowedMentions = { parse: [], users: userId === null ? [] : [userId], repliedUser: true };
  const ids: string[] = [];
  for (const [index, part] of textMessages(text).entries()) {
    // The message may be gone by now: the answer is worth saying all the same.
    const reply =
      index === 0 && said !== null && mayRefer(channel)
        ? { reply: { messageReference: said, failIfNotExists: false } }
        : {};
    const message = await channel.send({
      ...part,
      ...reply,
      allowedMentions,
      ...nonceOf(key, index),
    });
    ids.push(message.id);
  }
  return ids;
}
