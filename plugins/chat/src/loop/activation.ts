import {
  type Clock,
  escapeRegExp,
  type FrontDoor,
  isDotMessage,
  isNotice,
  isUnfinishedPart,
  maxEntries,
  plainText,
  type Random,
  type TurnTrigger,
  t,
  withoutNoticeMark,
  z,
} from '@cinnabar/sdk';
import { type Message, MessageType, type PartialMessage, type SendableChannels } from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { BotConfig } from '../config/keys.js';
import type { ChatServices } from '../plugin-context.js';

/** A person's message, or the messages of a bot's answer. */
type Said = readonly [Message, ...Message[]];

/** Answers messages that do not address the bot, where this is configured. Other messages cost a few look-ups in memory. */
export async function listenForMore(parts: ChatServices, frontDoor: FrontDoor): Promise<void> {
  const { on, defer, client, commands, random, clock, log } = parts;
  const rules = await openRules(parts);
  parts.whySilent(async (message) => {
    const { channel, guildId, channelId } = message;
    if (guildId === null || !channel.isSendable()) return [];
    if ((await frontDoor.responderIn(guildId, channelId)) !== 'chat') return [];
    return silenceReasons(message, await rules.refresh(channel));
  });
  const chainOf = createChainCounter();

  const judge = (said: Said, known: Rules, chain: number): Promise<unknown> | undefined => {
    const botId = client.user?.id ?? '';
    const trigger = triggerOf(said, known, { botId, chain, random });
    const last = said.at(-1) ?? said[0];
    if (trigger === undefined || commands.matches(last)) return undefined;
    const text = said.map(({ content }) => withoutNoticeMark(content)).join('\n');
    return frontDoor.take(last, { trigger, responder: 'chat', ...(said.length === 1 ? {} : { text }) });
  };
  const judgeLater = async (said: Said, chain: number) => {
    const [{ channel }] = said;
    if (channel.isSendable()) await judge(said, await rules.refresh(channel), chain);
  };
  const consider = (said: Said, chain: number): Promise<unknown> | undefined => {
    const [{ channelId }] = said;
    const known = rules.of(channelId);
    if (known === undefined || rules.isStale(channelId)) return judgeLater(said, chain);
    return judge(said, known, chain);
  };
  const answers = createBotAnswers({
    clock,
    count: chainOf,
    onWhole: async ({ messages, chain }) => consider(messages, chain),
    onError: (error) => log.warn('what a bot said could not be considered', { error }),
  });
  defer(answers.close);

  on('messageCreate', (message) => {
    // Notices of other bots are for members, and do not count in a chain.
    if (message.guildId === null || isNotice(message)) return undefined;
    if (message.author.bot || message.webhookId !== null) return answers.add(message);
    return consider([message], chainOf(message));
  });
  on('messageDelete', answers.remove);
  on('channelPinsUpdate', ({ id }) => rules.readPins(id));
  on('messageUpdate', (_old, message) => {
    if (message.pinned) rules.readPins(message.channelId);
    return answers.change(message);
  });
}

/** The compiled conditions for answering messages that do not address the bot. */
interface Rules {
  readonly name: RegExp | undefined;
  /** The expression for `name`. */
  readonly innerName: string;
  /** Fraction of all messages, from 0 to 1. */
  readonly share: number;
  readonly botChainLength: number;
}

/** Channels whose pins change the rules. After a restart, their pins are read before the first message is tested. */
export const pinnedRules = { scope: 'channel', version: 1, schema: z.object({ pinned: z.boolean() }) } as const;

const REMEMBERED_CHANNELS = 20_000;
const FRESH_MS = 10_000;

/** The rules of each channel for unaddressed messages, cached for some seconds. */
async function openRules({ config, collections, client, clock }: ChatServices) {
  const pinned = collections.pinnedRules;
  const known = new LRUCache<string, { readonly rules: Rules; readonly at: number }>(maxEntries(REMEMBERED_CHANNELS));
  const withPins = new Set<string>();
  for await (const [channelId] of pinned.entries()) withPins.add(channelId);

  const rememberPins = async (channelId: string, matter: boolean) => {
    if (matter) await pinned.of(channelId).set({ pinned: true });
    else {
      withPins.delete(channelId);
      if ((await pinned.of(channelId).find()) !== undefined) await pinned.of(channelId).delete();
    }
  };

  return {
    /** The last known rules, synchronously. */
    of: (channelId: string): Rules | undefined => known.get(channelId)?.rules,
    /** Whether the rules were read too long ago to be current. */
    isStale: (channelId: string) => clock.now() - (known.peek(channelId)?.at ?? 0) > FRESH_MS,
    /** Loads the rules. Requests Discord's pins only if pins of the channel are known to matter. */
    async refresh(channel: SendableChannels): Promise<Rules> {
      const guildId = channel.isDMBased() ? null : channel.guild.id;
      const botName = (guildId === null ? null : client.guilds.cache.get(guildId)?.members.me?.displayName) ?? '';
      const general = compile((await config.forGuild(guildId)).config, botName);
      let rules = general;
      if (withPins.has(channel.id)) {
        rules = compile((await config.forChannel(channel)).config, botName);
        await rememberPins(channel.id, !isSame(general, rules));
      }
      known.set(channel.id, { rules, at: clock.now() });
      return rules;
    },
    /** To be called when a message was pinned, edited or unpinned. */
    readPins(channelId: string) {
      withPins.add(channelId);
      known.delete(channelId);
    },
  };
}

function compile(config: BotConfig, botName: string): Rules {
  const { replyOnName, replyOnRandom, botChainLength, innerName = botName } = config;
  return {
    name: replyOnName && innerName !== '' ? asWord(innerName) : undefined,
    innerName,
    share: replyOnRandom > 1 ? 1 / replyOnRandom : replyOnRandom,
    botChainLength,
  };
}

/** Matches a name as a whole word, in any script. */
function asWord(name: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escapeRegExp(name)}(?![\\p{L}\\p{N}_])`, 'iu');
}

function isSame(a: Rules, b: Rules): boolean {
  return a.name?.source === b.name?.source && a.share === b.share && a.botChainLength === b.botChainLength;
}

/** Kept in a set, because access to the enumeration is slow, and this runs for every message. */
const SAID: ReadonlySet<MessageType> = new Set([MessageType.Default, MessageType.Reply]);

/**
 * Why a message that does not address the bot is answered; `undefined` if it is not. A person's message: when it contains the bot's name, or by chance. A bot's
 * answer: when any part contains the name or mentions the bot, as long as not too many bots have spoken in a row. Webhooks never.
 * @param said a person's message, or the messages of one answer of a bot
 * @param chain number of consecutive bot answers, including this one
 */
function triggerOf(
  said: readonly [Message, ...Message[]],
  { name, share, botChainLength }: Rules,
  { botId, chain, random }: { readonly botId: string; readonly chain: number; readonly random: Random },
): TurnTrigger | undefined {
  const [{ author, webhookId, type, mentions, content }] = said;
  if (author.id === botId || webhookId !== null) return undefined;
  if (!SAID.has(type) || isDotMessage(content)) return undefined;
  const isAddressed = mentions.repliedUser?.id === botId || said.some((part) => part.mentions.users.has(botId));
  if (author.bot) {
    if (chain > botChainLength) return undefined;
    if (isAddressed) return mentions.repliedUser?.id === botId ? 'reply' : 'mention';
    return said.some((part) => name?.test(part.content) === true) ? 'name' : undefined;
  }
  // `ai` handles messages that address the bot.
  if (isAddressed) return undefined;
  if (name?.test(content) === true) return 'name';
  return share > 0 && random.next() < share ? 'random' : undefined;
}

/** Why a message that does not address the bot was not answered, according to the current rules. */
function silenceReasons({ author, content, mentions, client }: Message, rules: Rules): readonly string[] {
  const { name, innerName, share, botChainLength } = rules;
  if (author.bot)
    return botChainLength === 0
      ? [t('`chat` answers no other bots here: `botChainLength` is 0.')]
      : [
          t(
            'Other bots are answered here when they mention me or say my name, as long as at most {most, plural, one {# answer of bots stands} other {# answers of bots stand}} in a row (`botChainLength` of `chat`).',
            { most: botChainLength },
          ),
        ];
  if (mentions.users.has(client.user.id) || mentions.repliedUser?.id === client.user.id) return [];
  const byName =
    name === undefined
      ? t('My name alone is no reason to answer here: `replyOnName` of `chat` is off.')
      : name.test(content)
        ? t(
            'It has my name in it, to which I answer here by the rules of now: they have changed since, or a limit held it back.',
          )
        : t('It does not have my name, {name}, in it, to which I answer here as well.', { name: plainText(innerName) });
  return [
    byName,
    share > 0
      ? t('Of what is not said to me I answer about one message in {count} here, by chance; this was none of them.', {
          count: Math.round(1 / share),
        })
      : t('I answer nothing here by chance: `replyOnRandom` of `chat` is 0.'),
  ];
}

/** A complete answer of a bot. */
interface BotAnswer {
  /** Its messages, oldest first. */
  readonly messages: readonly [Message, ...Message[]];
  /** Number of consecutive bot answers, including this one. */
  readonly chain: number;
}

interface BotAnswerOptions {
  readonly clock: Clock;
  /** Counts an answer in its channel's chain. */
  readonly count: (message: Message) => number;
  readonly onWhole: (answer: BotAnswer) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

/** Bots of other programs do not mark unfinished answers; their messages within this time after the last one belong to the same answer. */
const QUIET_MS = 2_000;
/** Without a message for this time, a marked unfinished answer counts as interrupted. */
const BROKEN_OFF_MS = 30_000;

interface Growing {
  readonly chain: number;
  readonly messages: Message[];
  /** Whether the bot marks unfinished parts; then a part without the mark is the last one. */
  marksParts: boolean;
  cancel(): void;
}

/** Combines the messages of bots into answers. */
export function createBotAnswers({ clock, count, onWhole, onError }: BotAnswerOptions) {
  const growing = new Map<string, Growing>();

  const drop = (key: string) => {
    growing.get(key)?.cancel();
    growing.delete(key);
  };
  const finish = async (key: string): Promise<void> => {
    const answer = growing.get(key);
    drop(key);
    const [first, ...others] = answer?.messages ?? [];
    if (answer !== undefined && first !== undefined)
      await onWhole({ messages: [first, ...others], chain: answer.chain });
  };
  const update = async (key: string, answer: Growing): Promise<void> => {
    answer.cancel();
    const last = answer.messages.at(-1);
    if (last === undefined) return drop(key);
    const goesOn = isUnfinishedPart(last);
    if (answer.marksParts && !goesOn) return finish(key);
    answer.marksParts ||= goesOn;
    answer.cancel = clock.after(goesOn ? BROKEN_OFF_MS : QUIET_MS, () => void finish(key).catch(onError));
  };
  const withMessage = (id: string) => [...growing].find(([, { messages }]) => messages.some((one) => one.id === id));

  return {
    /** Adds a bot's message. Resolves when the answers that it completed have been handled. */
    async add(message: Message): Promise<void> {
      const key = `${message.channelId}:${message.webhookId ?? message.author.id}:${message.author.username}`;
      // Another bot's message in between separates messages without a mark.
      const over = [...growing]
        .filter(
          ([other, { marksParts, messages }]) =>
            other !== key && !marksParts && messages[0]?.channelId === message.channelId,
        )
        .map(([other]) => other);
      // Only the first part of an answer is a reply.
      if (message.reference !== null) over.push(key);
      // The message is added before this is awaited, because handling may take as long as an answer, and later messages must come after it.
      const handled = over.map(finish);
      const answer = growing.get(key) ?? { chain: count(message), messages: [], marksParts: false, cancel() {} };
      growing.set(key, answer);
      answer.messages.push(message);
      await Promise.all([...handled, update(key, answer)]);
    },
    /** Applies an edit; streaming answers are edited. */
    async change(message: Message | PartialMessage): Promise<void> {
      const [key, answer] = withMessage(message.id) ?? [];
      if (key === undefined || answer === undefined || message.partial) return;
      const place = answer.messages.findIndex(({ id }) => id === message.id);
      // The edited message is a notice, which is for members only.
      answer.messages.splice(place, 1, ...(isNotice(message) ? [] : [message]));
      await update(key, answer);
    },
    /** Removes a deleted message, which may complete the answer. */
    async remove({ id }: { readonly id: string }): Promise<void> {
      const [key, answer] = withMessage(id) ?? [];
      if (key === undefined || answer === undefined) return;
      answer.messages.splice(
        answer.messages.findIndex((one) => one.id === id),
        1,
      );
      await update(key, answer);
    },
    /** Drops incomplete answers. */
    close() {
      for (const key of [...growing.keys()]) drop(key);
    },
  };
}

/**
 * Counts the consecutive bot answers at the end of each channel, without a person's message between them. The returned function counts a message and returns
 * the number; for an answer in several messages, call it with the first only.
 */
function createChainCounter() {
  const lengths = new LRUCache<string, number>(maxEntries(REMEMBERED_CHANNELS));
  return ({ channelId, author, webhookId }: Message): number => {
    const length = author.bot || webhookId !== null ? (lengths.get(channelId) ?? 0) + 1 : 0;
    if (length === 0) lengths.delete(channelId);
    else lengths.set(channelId, length);
    return length;
  };
}
