import {
  answerMessages,
  asUnfinishedPart,
  type Clock,
  type LlmCompletion,
  type LlmRequest,
  type Logger,
  mayRefer,
  noticeMessages,
  sentenceOf,
  sleep,
  type TextMessage,
  type Turn,
  turnEndOf,
  withoutNoticeMark,
} from '@cinnabar/sdk';
import type { GuildMember, Message, SendableChannels } from 'discord.js';
import { type BackoffOptions, withDiscordBackoff } from '../history/access.js';

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
interface Voice {
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

/** An answer that grows in Discord while the model writes. */
interface LiveAnswer {
  /** For `LlmRequest.onText`. */
  onText(piece: string, restart: boolean): void;
  /** Whether anything of it can be seen. */
  readonly shown: boolean;
  /** Makes what is seen exactly `text`; nothing of it stays when that is empty. Resolves with the id of its last message. */
  finish(text: string, manner?: Manner): Promise<string | undefined>;
  /** Lets it stand as it is. */
  leave(): Promise<void>;
}

interface Shown {
  readonly message: Message;
  content: string;
}

const PACE_MS = 1_000;

interface LiveOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when there is no time left to wait. */
  readonly signal: AbortSignal;
}

/** At most one message is sent or edited a second: what comes in between is shown with the next. */
function createLiveAnswer(voice: Voice, { clock, log, signal }: LiveOptions): LiveAnswer {
  const shown: Shown[] = [];
  let written = '';
  let wanted: readonly string[] = [];
  let pumping: Promise<void> | undefined;
  let isOver = false;
  let lastAt = Number.NEGATIVE_INFINITY;

  const placeToMend = () => wanted.findIndex((content, index) => shown[index]?.content !== content);
  const isExact = () => placeToMend() < 0 && shown.length <= wanted.length;
  const step = async () => {
    const place = placeToMend();
    const content = wanted[place] ?? '';
    const there = shown[place];
    if (place < 0) {
      const extra = shown.pop();
      if (extra !== undefined) await voice.remove(extra.message);
    } else if (there === undefined) shown.push({ message: await voice.send(content), content });
    else {
      await voice.edit(there.message, content);
      there.content = content;
    }
  };
  const pump = async () => {
    while (!isExact()) {
      const waitMs = lastAt + PACE_MS - clock.now();
      // Also without a wait, what arrives at the same moment is sent together.
      await (waitMs > 0 ? sleep(clock, waitMs, signal) : undefined);
      lastAt = clock.now();
      await step();
    }
  };
  const run = () => {
    pumping ??= pump().finally(() => {
      pumping = undefined;
    });
    return pumping;
  };

  return {
    onText(piece, restart) {
      if (isOver) return;
      written = restart ? piece : written + piece;
      const text = written.trim();
      // An answer that starts over may begin with nothing: what is seen stays until there is something else to see.
      if (text === '') return;
      const parts = voice.messagesOf(text);
      // What becomes a file is sent when it is whole; until then its beginning stands.
      if (parts.some(({ files }) => files !== undefined)) return;
      // Other bots wait until it is whole.
      wanted = parts.map(({ content }, index) => (index === parts.length - 1 ? asUnfinishedPart(content) : content));
      // What could not be shown is shown in the end, or said to have failed then.
      run().catch((error: unknown) => log.warn('an answer could not be shown while it grew', { error }));
    },
    get shown() {
      return shown.length > 0 || pumping !== undefined;
    },
    async leave() {
      isOver = true;
      await pumping;
      wanted = wanted.map((content, index) => (index === wanted.length - 1 ? withoutNoticeMark(content) : content));
      await run();
    },
    async finish(text, manner) {
      isOver = true;
      await pumping?.catch(() => undefined);
      const parts = text === '' ? [] : voice.messagesOf(text, manner);
      if (parts.some(({ files }) => files !== undefined)) {
        // The file first: its beginning stays where it cannot be sent.
        const id = await voice.say(text, manner);
        wanted = [];
        await run().catch((error: unknown) => log.warn('the beginning of an answer could not be removed', { error }));
        return id;
      }
      wanted = parts.map(({ content }) => content);
      await run();
      return shown.at(-1)?.message.id;
    },
  };
}

/** Mentions in code are text. */
const CODE = /(```[\s\S]*?```|`[^`\n]*`)/;
const MENTION = /<@!?(\d{1,20})>/g;
/** Letters, digits and what else a name goes on with. */
const WORD = '[\\p{L}\\p{N}_]';
/** The most bots that one message pings; a message that names more pings none. */
const MOST = 10;

/** Mentions of other bots in what a model writes: it reads them as `@Name`, and writes them so. People are pinged by nothing that a model writes. */
interface BotMentions {
  /** The text with `@Name` of a bot as Discord writes a mention; a name that several members have stays as it is. */
  written(text: string): string;
  /** Ids of the bots that a message mentions. */
  mentionedIn(content: string): readonly string[];
}

/** Of the bots that can see the channel. */
function botMentions(channel: SendableChannels): BotMentions {
  if (channel.isDMBased()) return { written: (text) => text, mentionedIn: () => [] };
  const { members } = channel.guild;
  const isThere = (member: GuildMember) =>
    member.user.bot && member.id !== channel.client.user.id && channel.permissionsFor(member).has('ViewChannel');

  const named = (): ReadonlyMap<string, string> => {
    const byName = new Map<string, GuildMember[]>();
    for (const member of members.cache.values()) {
      for (const name of new Set([member.displayName.toLowerCase(), member.user.username.toLowerCase()]))
        byName.set(name, [...(byName.get(name) ?? []), member]);
    }
    return new Map(
      [...byName].flatMap(([name, [member, ...others]]) =>
        member !== undefined && others.length === 0 && isThere(member) ? [[name, member.id]] : [],
      ),
    );
  };

  return {
    written(text) {
      if (!text.includes('@')) return text;
      const ids = named();
      if (ids.size === 0) return text;
      const longestFirst = [...ids.keys()].sort((one, other) => other.length - one.length).map(literal);
      const mention = new RegExp(`(?<![<@]|${WORD})@(${longestFirst.join('|')})(?!${WORD})`, 'giu');
      const outside = (part: string) =>
        part.replace(mention, (said, name: string) => {
          const id = ids.get(name.toLowerCase());
          return id === undefined ? said : `<@${id}>`;
        });
      return text
        .split(CODE)
        .map((part, index) => (index % 2 === 0 ? outside(part) : part))
        .join('');
    },
    mentionedIn(content) {
      const ids = new Set([...content.matchAll(MENTION)].flatMap(([, id]) => id ?? []));
      const bots = [...ids].filter((id) => {
        const member = members.cache.get(id);
        return member !== undefined && isThere(member);
      });
      return bots.length > MOST ? [] : bots;
    },
  };
}

function literal(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
