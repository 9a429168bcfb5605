import {
  answerMessages,
  asUnfinishedPart,
  type Clock,
  escapeRegExp,
  type LlmCompletion,
  type LlmRequest,
  type Logger,
  mayRefer,
  noticeMessages,
  sendOnce,
  sentenceOf,
  sleep,
  type TextMessage,
  type Turn,
  turnEndOf,
  withoutNoticeMark,
} from '@cinnabar/sdk';
import type { GuildMember, Message, SendableChannels } from 'discord.js';
import { type BackoffOptions, retriesOf, withDiscordBackoff } from '../history/access.js';

export type TurnReply = ReturnType<typeof createTurnReply>;

interface TurnReplyOptions extends StreamingOptions {
  /** Whether the text is shown while the model writes it. */
  readonly streams: boolean;
  /** Whether the visible part of a stopped answer stays. */
  readonly leavesStopped: boolean;
}

/** The messages of a turn, streamed or sent at once. */
export function createTurnReply(sender: MessageSender, options: TurnReplyOptions) {
  let growing: StreamingReply | undefined;

  const giveUp = async () => {
    const answer = growing;
    growing = undefined;
    if (answer?.shown !== true) return;
    if (options.leavesStopped && turnEndOf(options.signal) === 'stopped') await answer.leave();
    else await answer.finish('');
  };

  return {
    /** Ends the streaming message of a withdrawn or stopped turn: deletes it, or leaves it if the turn was stopped. */
    giveUp,
    /** Makes one request to the model, and shows its text. `undefined` when the request failed and the visible part was replaced by the reason. */
    async listen(
      complete: (onText: LlmRequest['onText']) => Promise<LlmCompletion>,
    ): Promise<LlmCompletion | undefined> {
      if (!options.streams) return complete(undefined);
      const answer = createStreamingReply(sender, options);
      growing = answer;
      try {
        return await complete(answer.onText);
      } catch (error) {
        if (turnEndOf(options.signal) !== undefined) await giveUp();
        growing = undefined;
        if (!answer.shown || turnEndOf(options.signal) !== undefined) throw error;
        const sentence = sentenceOf(error);
        // A partial answer must not look like a complete one.
        await answer.finish(sentence ?? '', 'notice');
        if (sentence === undefined) throw error;
        options.log.info('an answer broke off', { error });
        return undefined;
      }
    },
    /** Sends a text, or completes the streaming message. Resolves with the id of its last message; an empty text is not sent. */
    async say(text: string, manner?: Manner): Promise<string | undefined> {
      const answer = growing;
      growing = undefined;
      if (answer?.shown === true) return answer.finish(text, manner);
      return text === '' ? undefined : sender.say(text, manner);
    },
  };
}

/** Well below Discord's 2,000. */
const PART_LIMIT = 1_800;

/** The model's text, or a notice of the program, which no model reads. */
export type Manner = 'word' | 'notice';

type MessageSender = ReturnType<typeof createMessageSender>;

/** Sends the messages of one turn. The first replies to the answered message; only its author and mentioned bots are pinged. */
export function createMessageSender(turn: Turn, backoff: BackoffOptions) {
  const bots = botMentions(turn.channel);
  const requesters = [...turn.earlier, turn].map(({ user }) => user.id);
  const pinged = (content: string) => [...new Set([...requesters, ...bots.mentionedIn(content)])];
  const post =
    turn.message === null
      ? ({ content, files = [] }: TextMessage) => turn.reply({ content, files })
      : postTo(turn, turn.message, backoff, pinged);
  const sent = new Set<string>();
  const sendMessage = async (part: TextMessage) => {
    const message = await turn.sending(post(part));
    sent.add(message.id);
    return message;
  };
  const limits = turn.answerLimits === undefined ? {} : { limits: turn.answerLimits };
  const messagesOf = (text: string, manner: Manner = 'word'): readonly TextMessage[] => {
    const options = { ...limits, partLimit: PART_LIMIT };
    return manner === 'notice' ? noticeMessages(text, options) : answerMessages(bots.written(text), options);
  };
  return {
    /** Sends one message. */
    send: (content: string) => sendMessage({ content }),
    /** The messages that a text is split into. */
    messagesOf,
    /** Sends a text: in parts when it is long, as a file when it is very long. Resolves with the id of the last message. */
    async say(text: string, manner?: Manner): Promise<string> {
      const [first = { content: '' }, ...others] = messagesOf(text, manner);
      let last = await sendMessage(first);
      for (const part of others) last = await sendMessage(part);
      return last.id;
    },
    async edit(message: Message, content: string): Promise<void> {
      const allowedMentions = { parse: [], users: pinged(content) };
      await turn.sending(withDiscordBackoff(() => message.edit({ content, allowedMentions }), backoff));
    },
    async remove(message: Message): Promise<void> {
      sent.delete(message.id);
      await withDiscordBackoff(() => message.delete(), backoff);
    },
    /** Ids of messages that were sent and not deleted, oldest first. */
    get sentIds(): readonly string[] {
      return [...sent];
    },
  };
}

/** Posts each message of an answer once. */
function postTo(
  turn: Turn,
  asked: Message,
  backoff: BackoffOptions,
  pinged: (content: string) => readonly string[],
): (message: TextMessage) => Promise<Message> {
  const { channel, trigger } = turn;
  // `m activate` and `m continue` are deleted, and get no reply.
  let replied = trigger === 'activate' || trigger === 'continue' || !mayRefer(channel);
  let serial = 0;
  return ({ content, files = [] }) => {
    const reply = replied ? {} : { reply: { messageReference: asked.id, failIfNotExists: false } };
    replied = true;
    serial += 1;
    const allowedMentions = { parse: [], users: pinged(content), repliedUser: true };
    const message = { content, files, allowedMentions, ...reply };
    return sendOnce(channel, message, `${turn.id}:${serial}`, { clock: backoff.clock, ...retriesOf(backoff) });
  };
}

type StreamingReply = ReturnType<typeof createStreamingReply>;

interface Shown {
  readonly message: Message;
  content: string;
}

const PACE_MS = 1_000;

interface StreamingOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when no time is left to wait. */
  readonly signal: AbortSignal;
}

/** Streams an answer to Discord, with at most one request per second. */
function createStreamingReply(sender: MessageSender, { clock, log, signal }: StreamingOptions) {
  const shown: Shown[] = [];
  let written = '';
  let wanted: readonly string[] = [];
  let updating: Promise<void> | undefined;
  let isOver = false;
  let lastAt = Number.NEGATIVE_INFINITY;

  const firstDifference = () => wanted.findIndex((content, index) => shown[index]?.content !== content);
  const isExact = () => firstDifference() < 0 && shown.length <= wanted.length;
  const step = async () => {
    const place = firstDifference();
    const content = wanted[place] ?? '';
    const there = shown[place];
    if (place < 0) {
      const extra = shown.pop();
      if (extra !== undefined) await sender.remove(extra.message);
    } else if (there === undefined) shown.push({ message: await sender.send(content), content });
    else {
      await sender.edit(there.message, content);
      there.content = content;
    }
  };
  const update = async () => {
    while (!isExact()) {
      const waitMs = lastAt + PACE_MS - clock.now();
      // Even a resolved promise lets text that arrives at the same time be sent together.
      await (waitMs > 0 ? sleep(clock, waitMs, signal) : undefined);
      lastAt = clock.now();
      await step();
    }
  };
  const run = () => {
    updating ??= update().finally(() => {
      updating = undefined;
    });
    return updating;
  };

  return {
    /** For `LlmRequest.onText`. */
    onText(piece: string, restart: boolean): void {
      if (isOver) return;
      written = restart ? piece : written + piece;
      const text = written.trim();
      // A restarted answer may begin with an empty text: the visible part stays until there is new text.
      if (text === '') return;
      const parts = sender.messagesOf(text);
      // A text that becomes a file is sent when it is complete; until then its beginning stays visible.
      if (parts.some(({ files }) => files !== undefined)) return;
      // The mark lets other bots wait until the answer is complete.
      wanted = parts.map(({ content }, index) => (index === parts.length - 1 ? asUnfinishedPart(content) : content));
      // `finish` tries again, and reports a failure.
      run().catch((error: unknown) => log.warn('an answer could not be shown while it grew', { error }));
    },
    /** Whether a part of the answer is visible. */
    get shown(): boolean {
      return shown.length > 0 || updating !== undefined;
    },
    /** Leaves the visible part, without the mark of an unfinished answer. */
    async leave(): Promise<void> {
      isOver = true;
      await updating;
      wanted = wanted.map((content, index) => (index === wanted.length - 1 ? withoutNoticeMark(content) : content));
      await run();
    },
    /** Makes the visible text exactly `text`; deletes the messages when it is empty. Resolves with the id of the last message. */
    async finish(text: string, manner?: Manner): Promise<string | undefined> {
      isOver = true;
      await updating?.catch(() => undefined);
      const parts = text === '' ? [] : sender.messagesOf(text, manner);
      if (parts.some(({ files }) => files !== undefined)) {
        // The file is sent first: if that fails, the beginning stays.
        const id = await sender.say(text, manner);
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

/** Matches code, in which mentions are text. */
const CODE = /(```[\s\S]*?```|`[^`\n]*`)/;
const MENTION = /<@!?(\d{1,20})>/g;
/** Letters, digits and other characters that can continue a name. */
const WORD = '[\\p{L}\\p{N}_]';
/** The maximum number of bots that one message pings; of more, none is pinged. */
const MOST = 10;

/** Mentions of other bots that can see the channel, which the model reads and writes as `@Name`. A model's text never pings people. */
function botMentions(channel: SendableChannels) {
  if (channel.isDMBased()) return { written: (text: string) => text, mentionedIn: () => [] };
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
    /** The text with mentions of bots instead of `@Name`; a name of several members stays text. */
    written(text: string): string {
      if (!text.includes('@')) return text;
      const ids = named();
      if (ids.size === 0) return text;
      const longestFirst = [...ids.keys()].sort((one, other) => other.length - one.length).map(escapeRegExp);
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
    /** Ids of the bots that a message mentions. */
    mentionedIn(content: string): readonly string[] {
      const ids = new Set([...content.matchAll(MENTION)].flatMap(([, id]) => id ?? []));
      const bots = [...ids].filter((id) => {
        const member = members.cache.get(id);
        return member !== undefined && isThere(member);
      });
      return bots.length > MOST ? [] : bots;
    },
  };
}
