import { type Random, splitMessage, type Turn } from '@cinnabar/sdk';
import type { Message, SendableChannels } from 'discord.js';

const DISCORD_LIMIT = 2_000;
const MOST_NONCE = 25;
/** Nobody reads more of a persona at once. */
const MOST_PARTS = 4;

/** Says one text in a channel; resolves with its messages. */
export type Voice = (text: string) => Promise<readonly Message[]>;

/** Answers somebody: the first message is a reply to theirs, and only they can be pinged. */
export function answeringVoice({ reply }: Pick<Turn, 'reply'>): Voice {
  return (text) => inParts(text, (content) => reply(content));
}

/** Speaks up unasked, or after a while; pings nobody. @param replyTo message that it is about */
export function freeVoice(channel: SendableChannels, random: Pick<Random, 'id'>, replyTo?: string): Voice {
  let reply = replyTo === undefined ? {} : { reply: { messageReference: replyTo, failIfNotExists: false } };
  return (text) =>
    inParts(text, (content) => {
      // A request that is repeated makes no second message.
      const nonce = random.id().slice(-MOST_NONCE);
      const options = {
        content,
        nonce,
        enforceNonce: true,
        allowedMentions: { parse: [], repliedUser: false },
        ...reply,
      };
      reply = {};
      return channel.send(options);
    });
}

async function inParts(text: string, send: (content: string) => Promise<Message>): Promise<readonly Message[]> {
  const sent: Message[] = [];
  for (const part of splitMessage(text, DISCORD_LIMIT).slice(0, MOST_PARTS)) sent.push(await send(part));
  return sent;
}
