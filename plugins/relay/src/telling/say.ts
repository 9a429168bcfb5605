import { createHash } from 'node:crypto';
import { mayRefer, textMessages } from '@cinnabar/sdk';
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
      nonce: nonceOf(key, index),
      enforceNonce: true,
    });
    ids.push(message.id);
  }
  return ids;
}

/** Discord takes 25 characters. */
function nonceOf(key: string, index: number): string {
  return createHash('sha256').update(`${key}:${index}`).digest('hex').slice(0, 24);
}
