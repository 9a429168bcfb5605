import { answerMessages, type Clock, idAt, mayRefer, noticeMessages, type Profile, sendText } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { RelayEvent } from '../events/event.js';

/** Discord recognises a repeated message by its nonce for at least this long. */
const NONCE_KEPT_MS = 2 * 60_000;

export interface PostOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Whether it is a notice of the bot, as against an agent's words. */
  readonly notice?: boolean;
  /** The name and picture of the agent whose words they are; the bot's own without it. */
  readonly profile?: Profile | undefined;
}

/**
 * Posts a text in the channel of an event, as a reply to its message when there is one. Only its author can be pinged.
 * @param key names the text: the same key is posted once, also when an earlier process has posted it
 * @returns the ids of the messages; none where the bot cannot write
 */
export async function postAt(
  event: RelayEvent,
  text: string,
  key: string,
  { client, clock, notice = false, profile }: PostOptions,
): Promise<readonly string[]> {
  const { facts, userId, channelId } = event;
  const channel = await client.channels.fetch(channelId);
  if (channel?.isSendable() !== true) return [];
  const { messageId } = facts;
  const isOld = messageId !== null && clock.now() - facts.at >= NONCE_KEPT_MS;
  // Messages of a webhook have no nonce: an earlier one is always looked for.
  const sentAfter = profile === undefined ? (isOld ? messageId : undefined) : (messageId ?? idAt(facts.at));
  const sent = await sendText(channel, notice ? noticeMessages(text) : answerMessages(text), `relay:${key}`, {
    clock,
    sentAfter,
    profile,
    replyTo: messageId !== null && mayRefer(channel) ? messageId : undefined,
    allowedMentions: { parse: [], users: userId === null ? [] : [userId], repliedUser: true },
  });
  return sent.map(({ id }) => id);
}
