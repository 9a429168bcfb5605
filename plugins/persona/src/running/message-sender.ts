import { answerMessages, type Profile, sendText, TEXT_LIMITS, type TextLimits, type Turn } from '@cinnabar/sdk';
import type { Message, SendableChannels } from 'discord.js';
import type { PersonaContext } from '../context.js';
import type { RunContext, TriggerContext } from './run-context.js';

/** More of a persona at once is not read. */
const MOST_MESSAGES = 4;

/** Sends one text to a channel. @param onSent called with each of its messages as it has been sent: a later one may fail */
export type SendText = (text: string, onSent: (message: Message) => void) => Promise<void>;

/** Answers a turn: the first message is a reply, and only the member who is answered can be pinged. */
export function answer({ reply, answerLimits }: Pick<Turn, 'reply' | 'answerLimits'>): SendText {
  return async (text, onSent) => {
    for (const { content, files = [] } of messagesOf(text, answerLimits)) onSent(await reply({ content, files }));
  };
}

interface PostOptions {
  /** The message that it answers. */
  readonly replyTo?: string | undefined;
  /** A name and a picture to send under, through a webhook: the author of the answered message is pinged then. */
  readonly profile?: Profile;
  readonly limits?: TextLimits | undefined;
}

/** Posts without a turn; under the bot's own name it pings no one. */
export function post(
  channel: SendableChannels,
  { clock, random }: Pick<PersonaContext, 'clock' | 'random'>,
  { replyTo, profile, limits }: PostOptions = {},
): SendText {
  let repliesTo = replyTo;
  return async (text, onSent) => {
    const options = {
      clock,
      replyTo: repliesTo,
      onSent,
      allowedMentions: { parse: [], repliedUser: profile !== undefined },
      ...(profile === undefined ? {} : { profile }),
    };
    repliesTo = undefined;
    await sendText(channel, messagesOf(text, limits), random.id(), options);
  };
}

const messagesOf = (text: string, { messages, characters }: TextLimits = TEXT_LIMITS) =>
  answerMessages(text, { limits: { characters, messages: Math.min(messages, MOST_MESSAGES) } });

/** Under its own name and picture where the guild wants that; an answer to a slash command has to be the bot's own. */
function senderFor({ run, settings }: RunContext, triggered: TriggerContext, persona: PersonaContext): SendText {
  const { channel, trigger, send, limits } = triggered;
  const messageId = 'messageId' in trigger ? trigger.messageId : undefined;
  if (!settings.ownName || channel.isDMBased() || (trigger.type === 'user_input' && messageId === null)) return send;
  const isAnswer = trigger.type === 'user_input' || trigger.type === 'tool_result';
  const profile = { name: run.self, avatarUrl: settings.avatar };
  return post(channel, persona, { profile, replyTo: isAnswer ? (messageId ?? undefined) : undefined, limits });
}

export type MessageSender = ReturnType<typeof createMessageSender>;

/** Sends what a persona says in the course of a run, and keeps it in the conversation. */
export function createMessageSender(context: RunContext, triggered: TriggerContext, persona: PersonaContext) {
  const { place, self, speaker } = context.run;
  const send = senderFor(context, triggered, persona);
  const texts: string[] = [];
  const messageIds: string[] = [];
  const keep = async (text: string, sent: readonly Message[]) => {
    const ids = sent.map(({ id }) => id);
    texts.push(text);
    messageIds.push(...ids);
    const at = sent.at(-1)?.createdTimestamp ?? persona.clock.now();
    const answers = speaker === undefined ? {} : { answers: speaker.userId };
    const line = { messageIds: ids, userId: null, ...answers, displayName: self, username: '', text, at };
    await persona.conversations.add(place.channelId, [line]);
  };
  return {
    async say(text: string): Promise<void> {
      const sent: Message[] = [];
      let said = '';
      try {
        await send(text, (message) => void sent.push(message));
        said = text;
      } finally {
        // What could be said has been said, also where the rest of it failed.
        if (sent.length > 0) await keep(said || sent.map(({ content }) => content).join('\n'), sent);
      }
    },
    /** What was said so far. */
    texts,
    messageIds,
  };
}
