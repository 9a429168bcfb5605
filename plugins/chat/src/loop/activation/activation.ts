import {
  type Clock,
  type Collection,
  type Commands,
  type FrontDoor,
  isDotMessage,
  isNotice,
  type Logger,
  maxEntries,
  type Random,
  type Registrar,
  type TurnTrigger,
  withoutNoticeMark,
  z,
} from '@cinnabar/sdk';
import { type Client, type Message, MessageType, type SendableChannels } from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { BotConfig } from '../../config/schema.js';
import type { ConfigSource } from '../config-source.js';
import { createBotAnswers, createChains } from './bot-answers.js';

interface ActivationParts extends Pick<Registrar, 'on' | 'defer'> {
  readonly client: Client;
  readonly rules: RuleBook;
  readonly frontDoor: FrontDoor;
  readonly commands: Commands;
  readonly random: Random;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What a person says in a message, or a bot in the messages of one answer. */
type Said = readonly [Message, ...Message[]];

/** Answers what was not said to the bot, where the configuration wants that. For other messages it costs a few look-ups in memory. */
export function listenForMore(parts: ActivationParts): void {
  const { on, defer, client, rules, frontDoor, commands, random, clock, log } = parts;
  const chains = createChains();

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
    count: chains.note,
    onWhole: async ({ messages, chain }) => consider(messages, chain),
    onError: (error) => log.warn('what a bot said could not be considered', { error }),
  });
  defer(answers.close);

  on('messageCreate', (message) => {
    // What another bot says about itself is said to members, and counts as no message in a chain.
    if (message.guildId === null || isNotice(message)) return undefined;
    if (message.author.bot || message.webhookId !== null) return answers.add(message);
    return consider([message], chains.note(message));
  });
  on('messageDelete', answers.remove);
  on('channelPinsUpdate', ({ id }) => rules.readPins(id));
  on('messageUpdate', (_old, message) => {
    if (message.pinned) rules.readPins(message.channelId);
    return answers.change(message);
  });
}

/** When the bot answers what was not said to it, ready to be tested on a message. */
interface Rules {
  readonly name: RegExp | undefined;
  /** Of all messages, 0 to 1. */
  readonly share: number;
  readonly botChainLength: number;
}

/** Channels whose pins change the rules: after a restart their pins are read before the first message is judged. */
export const pinnedRules = { scope: 'channel', version: 1, schema: z.object({ pinned: z.boolean() }) } as const;
type PinnedRules = Collection<{ pinned: boolean }, 'channel'>;

interface RuleBook {
  /** The rules as last known, at once; `undefined` when none are. */
  of(channelId: string): Rules | undefined;
  /** Whether they should be looked up again: settings and files may have changed. */
  isStale(channelId: string): boolean;
  /** Looks them up. Asks nothing of Discord, unless pins of the channel are known to matter. */
  refresh(channel: SendableChannels): Promise<Rules>;
  /** Something was pinned or unpinned in a channel, or its configuration is known anyway. */
  readPins(channelId: string): void;
}

interface RuleBookParts {
  readonly config: ConfigSource;
  readonly pinned: PinnedRules;
  readonly client: Client;
  readonly clock: Clock;
}

const REMEMBERED = 20_000;
const FRESH_MS = 10_000;

export async function openRuleBook({ config, pinned, client, clock }: RuleBookParts): Promise<RuleBook> {
  const known = new LRUCache<string, { readonly rules: Rules; readonly at: number }>(maxEntries(REMEMBERED));
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
    of: (channelId) => known.get(channelId)?.rules,
    isStale: (channelId) => clock.now() - (known.peek(channelId)?.at ?? 0) > FRESH_MS,
    async refresh(channel) {
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
    readPins(channelId) {
      withPins.add(channelId);
      known.delete(channelId);
    },
  };
}

function compile(config: BotConfig, botName: string): Rules {
  const { replyOnName, replyOnRandom, botChainLength, innerName = botName } = config;
  return {
    name: replyOnName && innerName !== '' ? asWord(innerName) : undefined,
    share: replyOnRandom > 1 ? 1 / replyOnRandom : replyOnRandom,
    botChainLength,
  };
}

/** Not as a part of another word, in any script. */
function asWord(name: string): RegExp {
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, 'iu');
}

function isSame(a: Rules, b: Rules): boolean {
  return a.name?.source === b.name?.source && a.share === b.share && a.botChainLength === b.botChainLength;
}

/** Looked up once: the enumeration is behind several getters, and this is asked with every message. */
const SAID: ReadonlySet<MessageType> = new Set([MessageType.Default, MessageType.Reply]);

/**
 * Why a message is answered that `ai` does not take by itself; `undefined` when it is not. People: when they say the bot's name, or by
 * chance. Bots: when they say its name or mention it in any part of an answer, as long as not too many bots have spoken in a row. Webhooks never.
 * @param said a person's message, or the messages of one answer of a bot
 * @param chain answers of bots in a row, this one included
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
  // These come by themselves.
  if (isAddressed) return undefined;
  if (name?.test(content) === true) return 'name';
  return share > 0 && random.next() < share ? 'random' : undefined;
}
