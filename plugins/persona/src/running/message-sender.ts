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
import type { ConversationStore } from '../conversation/conversation-store.js';

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

/** What a persona says in the course of a run, kept in the conversation. */
export interface Speech {
  say(text: string): Promise<void>;
  /** So far. */
  readonly texts: readonly string[];
  readonly messageIds: readonly string[];
}

export interface SpeechParts {
  readonly voice: Voice;
  readonly conversations: Pick<ConversationStore, 'add'>;
  readonly channelId: string;
  readonly self: string;
  /** Whom it answers. */
  readonly answers: string | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

export function createSpeech({ voice, conversations, channelId, self, answers, clock }: SpeechParts): Speech {
  const texts: string[] = [];
  const messageIds: string[] = [];
  const keep = async (text: string, sent: readonly Message[]) => {
    const ids = sent.map(({ id }) => id);
    texts.push(text);
    messageIds.push(...ids);
    const at = sent.at(-1)?.createdTimestamp ?? clock.now();
    const whose = answers === undefined ? {} : { answers };
    const line = { messageIds: ids, userId: null, ...whose, displayName: self, username: '', text, at };
    await conversations.add(channelId, [line]);
  };
  return {
    async say(text) {
      const sent: Message[] = [];
      let said = '';
      try {
        await voice(text, (message) => void sent.push(message));
        said = text;
      } finally {
        // What could be said has been said, also where the rest of it failed.
        if (sent.length > 0) await keep(said || sent.map(({ content }) => content).join('\n'), sent);
      }
    },
    texts,
    messageIds,
  };
}
