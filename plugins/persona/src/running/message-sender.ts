import {
  answerMessages,
  type Clock,
  type Profile,
  type Random,
  sendText,
  TEXT_LIMITS,
  type TextLimits,
  type Turn,
} from '@cinnabar/sdk';
import type { Message, SendableChannels } from 'discord.js';
import type { ConversationStore } from '../conversation/conversation-store.js';

/** The messages that one text of a persona may become. */
const MAX_PARTS = 4;

/** Says one text in a channel. @param onSent called with each of its messages as it has been sent: a later one may fail */
export type Voice = (text: string, onSent: (message: Message) => void) => Promise<void>;

/** Answers somebody: the first message is a reply to theirs, and only they can be pinged. */
export function answeringVoice({ reply, answerLimits }: Pick<Turn, 'reply' | 'answerLimits'>): Voice {
  return async (text, onSent) => {
    for (const { content, files = [] } of answerMessages(text, { limits: personaLimits(answerLimits) }))
      onSent(await reply({ content, files }));
  };
}

export interface SenderOptions {
  readonly clock: Clock;
  readonly random: Pick<Random, 'id'>;
  /** The message that the text is about, or replies to. */
  readonly replyTo?: string | undefined;
  readonly limits?: TextLimits | undefined;
  /** Sends through a webhook of the bot, which mentions the author of `replyTo`. */
  readonly profile?: Profile | undefined;
}

/** Sends to a channel, unasked or after a while; pings at most the member whose message is answered under a profile. */
export function channelVoice(channel: SendableChannels, options: SenderOptions): Voice {
  const { clock, random, profile, limits } = options;
  let { replyTo } = options;
  return async (text, onSent) => {
    const allowedMentions = { parse: [], repliedUser: profile !== undefined };
    const parts = answerMessages(text, { limits: personaLimits(limits) });
    const to = replyTo;
    // Only the first text replies.
    if (parts.length > 0) replyTo = undefined;
    await sendText(channel, parts, random.id(), { clock, profile, replyTo: to, allowedMentions, onSent });
  };
}

function personaLimits({ messages, characters }: TextLimits = TEXT_LIMITS): TextLimits {
  return { characters, messages: Math.min(messages, MAX_PARTS) };
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
