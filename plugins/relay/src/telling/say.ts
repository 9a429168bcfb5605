import { answerMessages, type Clock, mayRefer, noticeMessages, sendOnce } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { RelayEvent } from '../types.js';

/** Discord surely knows a message that is repeated for so long. */
const KNOWN_MS = 2 * 60_000;

export interface SayOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Whether the bot says it about itself, as against an agent's words. */
  readonly notice?: boolean;
}

/**
 * Says something where an event was, as a reply to its message when there is one. Only its author can be pinged.
 * @param key names it: under the same key it is said once, also when an earlier process has said it long ago
 * @returns the ids of the messages; none where the bot cannot write
 */
export async function sayAt(
  event: RelayEvent,
  text: string,
  key: string,
  { client, clock, notice = false }: SayOptions,
): Promise<readonly string[]> {
  const { facts, userId, channelId } = event;
  const channel = await client.channels.fetch(channelId);
  if (channel?.isSendable() !== true) return [];
  const said = facts.messageId;
  const allowedMentions = { parse: [], users: userId === null ? [] : [userId], repliedUser: true };
  const sentAfter = said !== null && clock.now() - facts.at >= KNOWN_MS ? said : undefined;
  const ids: string[] = [];
  const parts = notice ? noticeMessages(text) : answerMessages(text);
  for (const [index, part] of parts.entries()) {
    // The message may be gone by now: the answer is worth saying all the same.
    const reply =
      index === 0 && said !== null && mayRefer(channel)
        ? { reply: { messageReference: said, failIfNotExists: false } }
        : {};
    const message = { ...part, ...reply, allowedMentions };
    ids.push((await sendOnce(channel, message, `relay:${key}:${index}`, { clock, sentAfter })).id);
  }
  return ids;
}
