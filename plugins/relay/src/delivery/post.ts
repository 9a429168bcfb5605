import { answerMessages, type Clock, mayRefer, noticeMessages, type Profile, sendAs, sendOnce } from '@cinnabar/sdk';
import { type Client, SnowflakeUtil } from 'discord.js';
import type { RelayEvent } from '../types.js';

/** Discord surely knows a message that is repeated for so long. */
const KNOWN_MS = 2 * 60_000;

interface SayOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Whether the bot says it about itself, as against an agent's words. */
  readonly notice?: boolean;
  /** The name and picture of the agent whose words they are; the bot's own without it. */
  readonly profile?: Profile | undefined;
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
  { client, clock, notice = false, profile }: SayOptions,
): Promise<readonly string[]> {
  const { facts, userId, channelId } = event;
  const channel = await client.channels.fetch(channelId);
  if (channel?.isSendable() !== true) return [];
  const said = facts.messageId;
  const allowedMentions = { parse: [], users: userId === null ? [] : [userId], repliedUser: true };
  const sentAfter = said !== null && clock.now() - facts.at >= KNOWN_MS ? said : undefined;
  // Discord knows no message of a webhook that is repeated: it is looked for each time.
  const sinceEvent = said ?? SnowflakeUtil.generate({ timestamp: facts.at }).toString();
  const ids: string[] = [];
  const parts = notice ? noticeMessages(text) : answerMessages(text);
  for (const [index, part] of parts.entries()) {
    // The message may be gone by now: the answer is worth saying all the same.
    const reply =
      index === 0 && said !== null && mayRefer(channel)
        ? { reply: { messageReference: said, failIfNotExists: false } }
        : {};
    const message = { ...part, ...reply, allowedMentions };
    const name = `relay:${key}:${index}`;
    const sent =
      profile === undefined
        ? await sendOnce(channel, message, name, { clock, sentAfter })
        : await sendAs(channel, message, name, { clock, sentAfter: sinceEvent, profile });
    ids.push(sent.id);
  }
  return ids;
}
