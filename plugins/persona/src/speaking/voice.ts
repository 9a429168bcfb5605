import {
  answerMessages,
  type Clock,
  type Profile,
  type Random,
  sendAs,
  TEXT_LIMITS,
  type TextLimits,
  type TextMessage,
  type Turn,
} from '@cinnabar/sdk';
import type { Message, SendableChannels } from 'discord.js';

const MOST_NONCE = 25;
/** Nobody reads more of a persona at once. */
const MOST_PARTS = 4;

/** Says one text in a channel. @param onSent called with each of its messages as it has been sent: a later one may fail */
export type Voice = (text: string, onSent: (message: Message) => void) => Promise<void>;

/** Answers somebody: the first message is a reply to theirs, and only they can be pinged. */
export function answeringVoice({ reply, answerLimits }: Pick<Turn, 'reply' | 'answerLimits'>): Voice {
  return (text, onSent) => inParts(text, onSent, ({ content, files = [] }) => reply({ content, files }), answerLimits);
}

/** Speaks up unasked, or after a while; pings nobody. @param replyTo message that it is about */
export function freeVoice(channel: SendableChannels, random: Pick<Random, 'id'>, replyTo?: string): Voice {
  let reply = replyTo === undefined ? {} : { reply: { messageReference: replyTo, failIfNotExists: false } };
  return (text, onSent) =>
    inParts(text, onSent, ({ content, files = [] }) => {
      // A request that is repeated makes no second message.
      const nonce = random.id().slice(-MOST_NONCE);
      const options = {
        content,
        files,
        nonce,
        enforceNonce: true,
        allowedMentions: { parse: [], repliedUser: false },
        ...reply,
      };
      reply = {};
      return channel.send(options);
    });
}

export interface NamedParts {
  readonly clock: Clock;
  readonly random: Pick<Random, 'id'>;
  /** The message that it answers: its author is mentioned. */
  readonly replyTo?: string | undefined;
  readonly limits?: TextLimits | undefined;
}

/** Says it under a name and a picture, through a webhook of the bot's own where that may be; pings at most the member who is answered. */
export function namedVoice(
  channel: SendableChannels,
  profile: Profile,
  { clock, random, replyTo, limits }: NamedParts,
): Voice {
  let reply = replyTo === undefined ? {} : { reply: { messageReference: replyTo, failIfNotExists: false } };
  const send = ({ content, files = [] }: TextMessage) => {
    const message = { content, files: [...files], allowedMentions: { parse: [], repliedUser: true }, ...reply };
    reply = {};
    return sendAs(channel, message, random.id(), { clock, profile });
  };
  return (text, onSent) => inParts(text, onSent, send, limits);
}

async function inParts(
  text: string,
  onSent: (message: Message) => void,
  send: (message: TextMessage) => Promise<Message>,
  { messages, characters }: TextLimits = TEXT_LIMITS,
): Promise<void> {
  const limits = { characters, messages: Math.min(messages, MOST_PARTS) };
  for (const part of answerMessages(text, { limits })) onSent(await send(part));
}
