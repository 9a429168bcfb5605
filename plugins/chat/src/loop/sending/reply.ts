import {
  answerMessages,
  type LlmCompletion,
  type LlmRequest,
  mayRefer,
  noticeMessages,
  sentenceOf,
  type TextMessage,
  type Turn,
  turnEndOf,
} from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import { type BackoffOptions, withDiscordBackoff } from '../../history/discord-backoff.js';
import { botMentions } from './bot-mentions.js';
import { createLiveAnswer, type LiveAnswer, type LiveOptions } from './streaming-reply.js';

/** What is said in the course of a turn, whether it grows while the model writes or comes at once. */
export interface Speech {
  /**
   * Runs one request to the model; what it writes is shown as it comes, where that is wanted. `undefined` when it failed and that has been
   * said in place of what could be seen already.
   */
  listen(complete: (onText: LlmRequest['onText']) => Promise<LlmCompletion>): Promise<LlmCompletion | undefined>;
  /** Says a text: the one that is growing already is made exact. Resolves with its last message's id; nothing is said of an empty one. */
  say(text: string, manner?: Manner): Promise<string | undefined>;
  /** Ends what is growing, because a member wants no answer any more: it is removed, or stays as it is where it was stopped. */
  giveUp(): Promise<void>;
}

interface SpeechOptions extends LiveOptions {
  readonly live: boolean;
  /** Whether what can be seen of an answer stays when it is stopped. */
  readonly leavesStopped: boolean;
}

export function createSpeech(voice: Voice, options: SpeechOptions): Speech {
  let growing: LiveAnswer | undefined;

  const giveUp = async () => {
    const answer = growing;
    growing = undefined;
    if (answer?.shown !== true) return;
    if (options.leavesStopped && turnEndOf(options.signal) === 'stopped') await answer.leave();
    else await answer.finish('');
  };

  return {
    giveUp,
    async listen(complete) {
      if (!options.live) return complete(undefined);
      const answer = createLiveAnswer(voice, options);
      growing = answer;
      try {
        return await complete(answer.onText);
      } catch (error) {
        if (turnEndOf(options.signal) !== undefined) await giveUp();
        growing = undefined;
        if (!answer.shown || turnEndOf(options.signal) !== undefined) throw error;
        const sentence = sentenceOf(error);
        // Half an answer is not left behind as if it were a whole one.
        await answer.finish(sentence ?? '', 'notice');
        if (sentence === undefined) throw error;
        options.log.info('an answer broke off', { error });
        return undefined;
      }
    },
    async say(text, manner) {
      const answer = growing;
      growing = undefined;
      if (answer?.shown === true) return answer.finish(text, manner);
      return text === '' ? undefined : voice.say(text, manner);
    },
  };
}

/** Well below Discord's 2,000. */
const PART_LIMIT = 1_800;

/** Whether the model speaks, or the program about itself: no model ever reads a notice. */
export type Manner = 'word' | 'notice';

/** How the bot speaks in the course of one turn. */
export interface Voice {
  /** Says text, in parts where it is long, as a file where it is very long. Resolves with the id of the last message. */
  say(text: string, manner?: Manner): Promise<string>;
  /** The messages in which a text is said. */
  messagesOf(text: string, manner?: Manner): readonly TextMessage[];
  /** Sends one message, or changes one that this voice has sent. */
  send(content: string): Promise<Message>;
  edit(message: Message, content: string): Promise<void>;
  remove(message: Message): Promise<void>;
  /** Ids of what has been said and still stands, oldest first. */
  readonly sentIds: readonly string[];
}

/** The first message replies to the one that is answered; only those who are answered can be pinged, and other bots that it mentions. */
export function createVoice(turn: Turn, backoff: Backoff): Voice {
  const bots = botMentions(turn.channel);
  const askers = [...turn.earlier, turn].map(({ user }) => user.id);
  const pinged = (content: string) => [...new Set([...askers, ...bots.mentionedIn(content)])];
  const post =
    turn.message === null
      ? ({ content, files = [] }: TextMessage) => turn.reply({ content, files })
      : messageSender(turn, turn.message, backoff, pinged);
  const sent = new Set<string>();
  const sendMessage = async (part: TextMessage) => {
    const message = await post(part);
    sent.add(message.id);
    return message;
  };
  const limits = turn.answerLimits === undefined ? {} : { limits: turn.answerLimits };
  const messagesOf = (text: string, manner: Manner = 'word') => {
    const options = { ...limits, partLimit: PART_LIMIT };
    return manner === 'notice' ? noticeMessages(text, options) : answerMessages(bots.written(text), options);
  };
  return {
    send: (content) => sendMessage({ content }),
    messagesOf,
    async say(text, manner) {
      const [first = { content: '' }, ...others] = messagesOf(text, manner);
      let last = await sendMessage(first);
      for (const part of others) last = await sendMessage(part);
      return last.id;
    },
    async edit(message, content) {
      const allowedMentions = { parse: [], users: pinged(content) };
      await withDiscordBackoff(() => message.edit({ content, allowedMentions }), backoff);
    },
    async remove(message) {
      sent.delete(message.id);
      await withDiscordBackoff(() => message.delete(), backoff);
    },
    get sentIds() {
      return [...sent];
    },
  };
}

export type Backoff = BackoffOptions;

/**
 * Builds what sends the messages of one answer. Each carries a nonce of its own that Discord enforces: a request that is repeated, because
 * nobody knows what became of it, makes no second message.
 */
function messageSender(
  turn: Turn,
  asked: Message,
  backoff: Backoff,
  pinged: (content: string) => readonly string[],
): (message: TextMessage) => Promise<Message> {
  const { channel, trigger } = turn;
  // What merely goes on replies to nobody, and its command is taken away.
  let replied = trigger === 'activate' || trigger === 'continue' || !mayRefer(channel);
  let serial = 0;
  return ({ content, files = [] }) => {
    const reply = replied ? {} : { reply: { messageReference: asked, failIfNotExists: false } };
    replied = true;
    serial += 1;
    const allowedMentions = { parse: [], users: pinged(content), repliedUser: true };
    const nonce = `${asked.id.slice(-19)}.${serial}`;
    return withDiscordBackoff(
      async (): Promise<Message> =>
        channel.send({ content, files, allowedMentions, nonce, enforceNonce: true, ...reply }),
      backoff,
    );
  };
}
