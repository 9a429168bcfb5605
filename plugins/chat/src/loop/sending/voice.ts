import { answerMessages, noticeMessages, type TextMessage, type Turn } from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import { withDiscordBackoff } from '../../history/discord-backoff.js';
import { botMentions } from './bot-mentions.js';
import { type Backoff, messageSender } from './sender.js';

/** Well below Discord's 2,000. */
export const PART_LIMIT = 1_800;

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
