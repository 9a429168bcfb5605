import {
  type Access,
  type Actor,
  type Audience,
  createRateLimiter,
  defined,
  isTransient,
  mayRefer,
  type SuggestionChoice,
  sendOnce,
  type Tier,
  t,
  translated,
} from '@cinnabar/sdk';
import type { Client, Message, SendableChannels } from 'discord.js';
import { type Answered, answerKey } from '../cluster/claims.js';
import type { CommandService, Owner } from '../contracts.js';
import { ANSWER_PAUSES_MS, type Answers, denial, echo, notAvailable, partsOf } from './answers.js';
import { prefixEnd, readArguments, readToken, skipSpace, skipWord } from './arguments.js';
import type { CommandServices } from './commands.js';
import { answerFailure, type Call, type Execution, execute } from './execute.js';
import type { GuildCommandDirectory } from './guild-commands.js';
import { usageLine, usageOf } from './options.js';
import { isInRedAlone, sameAsInRed } from './red-names.js';
import {
  type CommandEntry,
  type Entry,
  type GroupEntry,
  leavesOf,
  nearest,
  type Registry,
  visibleAmong,
} from './registry.js';

/** Commands in messages: recognises them by prefix or mention, runs them, and suggests others for unknown ones. */
export function createMessageRouter(
  parts: CommandServices,
  registry: Registry,
  execution: Execution,
  made: GuildCommandDirectory,
): Pick<CommandService, 'matches' | 'onMessage' | 'suggestWhere'> {
  const { boundary, languages, claims } = parts;
  const recognise = createRecogniser(parts, registry, made);
  const always: SuggestionChoice = () => true;
  let isWanted = always;
  const suggest = createSuggester(parts, registry, execution, (guildId) => isWanted(guildId));

  return {
    matches: (message) => recognise(message)?.entry !== undefined,
    onMessage(message) {
      const recognised = recognise(message);
      if (recognised === undefined) return false;
      const { entry } = recognised;
      if (entry === undefined) {
        suggest(message, recognised);
        return false;
      }
      void boundary.run(entry.owner, message.guildId, `command ${entry.name}`, () =>
        claims.run({ id: message.id, ...actorOf(message) }, () =>
          languages.serve(audienceOf(message), undefined, () => runMessage(execution, message, entry, recognised)),
        ),
      );
      return true;
    },
    suggestWhere(choice) {
      isWanted = choice;
      return () => {
        if (isWanted === choice) isWanted = always;
      };
    },
  };
}

function audienceOf({ guildId, author }: Message): Audience {
  return { guildId, userId: author.id };
}

/** The author of a message as the actor of its command. */
function actorOf(message: Message): Actor {
  return { userId: message.author.id, guildId: message.guildId, channelId: message.channelId };
}

/** Runs the command that a message names; a group without one shows its help. */
function runMessage(
  execution: Execution,
  message: Message,
  entry: Entry,
  { prefix, end, content, atMost }: Recognised,
): Promise<Answered> | Answered {
  if (!message.channel.isSendable()) return 'answered';
  const answers = answerMessage(message, message.channel, execution, entry.owner);
  const descent = descend(entry, content, end);
  return 'command' in descent
    ? execute(
        execution,
        callOf(message, descent.command, { prefix, content, end: descent.end, ...defined({ atMost }) }, answers),
      )
    : explainGroup(execution, message, descent.group, shownPrefix(prefix, message.client), descent.stray, answers);
}

function callOf(
  message: Message,
  entry: CommandEntry,
  { prefix, content, end, atMost }: Pick<Recognised, 'prefix' | 'content' | 'end' | 'atMost'>,
  answers: Answers,
): Call {
  return {
    entry,
    source: 'prefix',
    prefix,
    typed: content,
    actor: { ...actorOf(message), ...defined({ atMost }) },
    place: {
      client: message.client,
      guild: message.guild,
      user: message.author,
      attachments: message.attachments,
    },
    message,
    answers,
    channel: () => message.channel,
    member: () => message.member ?? message.guild?.members.fetch(message.author.id) ?? null,
    given: () => readArguments(entry.specs, content, end, [...message.attachments.keys()]),
    show: ({ sentence, option }) => `${sentence}\n${usageBlock(entry, shownPrefix(prefix, message.client), option)}`,
  };
}

async function explainGroup(
  execution: Execution,
  message: Message,
  group: GroupEntry,
  prefix: string,
  stray: string | undefined,
  answers: Answers,
): Promise<Answered> {
  const actor = actorOf(message);
  try {
    const content = await groupHelp(execution.access, actor, group, prefix, stray);
    await answers.reply({ content, notice: true });
    return 'answered';
  } catch (error) {
    const failed = { what: `help of ${group.name}`, actor, error, log: group.owner.log, forOperator: false };
    return answerFailure(execution, failed, answers);
  }
}

/** A message that begins like a command. */
interface Recognised {
  /** `undefined` when there is no such command, or it is not enabled here. */
  readonly entry: Entry | undefined;
  readonly prefix: string;
  /** The first word after the prefix, in lower case. */
  readonly word: string;
  /** The index after the command's word in `content`. */
  readonly end: number;
  /** The text of the message, with an alias replaced by its text. */
  readonly content: string;
  /** A command run through an alias may do no more than the alias's creator may. */
  readonly atMost?: Tier;
}

type MaybeLater<T> = T | Promise<T>;

type Dependencies = Pick<CommandServices, 'client' | 'prefixes' | 'enabledIn'>;

/** Builds the test that runs for every message: it checks the author and the first characters, then does one look-up in a map. */
function createRecogniser(parts: Dependencies, registry: Registry, made: GuildCommandDirectory) {
  const { client, prefixes } = parts;
  return (message: Message): Recognised | undefined => {
    if (message.author.bot || client.user === null) return undefined;
    const { content, guildId } = message;
    const afterPrefix = prefixEnd(content, prefixes(guildId), client.user.id);
    if (afterPrefix === 0 || message.system) return undefined;
    const start = skipSpace(content, afterPrefix);
    const end = skipWord(content, start);
    if (start === end) return undefined;
    // A command that begins with a mention of this bot is for this bot, also in a reply to another one.
    if (!content.startsWith('<@') && isForAnotherBot(message, client.user.id)) return undefined;
    const word = content.slice(start, end).toLowerCase();
    const prefix = content.slice(0, afterPrefix);
    const called = (name: string) => entryCalled(parts, registry, name, guildId) ?? made.find(guildId, name);
    const entry = called(word);
    if (entry !== undefined) return { entry, prefix, word, end, content };
    const meant = made.expand(guildId, content, start, (name) => called(name) !== undefined);
    if (meant === undefined) return { entry, prefix, word, end, content };
    const { text, tier } = meant;
    const meantEnd = skipWord(text, start);
    const named = called(text.slice(start, meantEnd).toLowerCase());
    return { entry: named, prefix, word, end: meantEnd, content: text, atMost: tier };
  };
}

/** The command or group of that name, if it can be typed and is enabled in the guild. */
export function entryCalled(
  { enabledIn }: Pick<Dependencies, 'enabledIn'>,
  registry: Registry,
  word: string,
  guildId: string | null,
): Entry | undefined {
  const entry = registry.find(word);
  if (entry === undefined || entry.surface === 'slash') return undefined;
  return enabledIn(guildId, entry.owner.plugin) ? entry : undefined;
}

/** Whether a command is meant for another bot with the same prefix: it replies to a message of that bot. Messages of webhooks do not count. */
function isForAnotherBot({ reference, mentions, channel }: Message, ownId: string): boolean {
  const { repliedUser } = mentions;
  if (reference?.messageId === undefined || repliedUser?.bot !== true || repliedUser.id === ownId) return false;
  return channel.messages.cache.get(reference.messageId)?.webhookId == null;
}

/** The result of following a message's words: a command, or the last group on the way. */
type Descent =
  | { readonly command: CommandEntry; readonly end: number }
  | { readonly group: GroupEntry /** The word that names no command. */; readonly stray: string | undefined };

/** Follows the words after a group's name to one of its commands. */
function descend(entry: Entry, source: string, end: number): Descent {
  if (entry.kind === 'command') return { command: entry, end };
  const word = readToken(source, end);
  const child = word === undefined || word.quoted ? undefined : entry.byName.get(word.text.toLowerCase());
  if (word === undefined || child === undefined || child.surface === 'slash') {
    return { group: entry, stray: word?.text };
  }
  return descend(child, source, word.end);
}

/** A prefix for display: inside a code block, a mention is replaced by a name. */
function shownPrefix(prefix: string, client: Client): string {
  const readable = prefix.startsWith('<@') ? `@${client.user?.displayName ?? 'bot'} ` : prefix;
  return readable.replaceAll('`', 'ˋ');
}

/** The usage of a command in a code block, with carets under the option at fault. */
function usageBlock(entry: CommandEntry, prefix: string, fault: string | undefined): string {
  const start = `${prefix}${entry.name} `;
  const lines = [`${start}${usageLine(entry.specs)}`.trimEnd()];
  const index = entry.specs.findIndex((spec) => spec.name === fault);
  const spec = entry.specs[index];
  if (spec !== undefined) {
    const before = entry.specs.slice(0, index).reduce((width, one) => width + usageOf(one).length + 1, start.length);
    lines.push(' '.repeat(before) + '^'.repeat(usageOf(spec).length));
  }
  return ['```', ...lines, '```'].join('\n');
}

/**
 * The answer of a group when no command of it was named: its commands that the actor may run.
 * @param stray the word that names none of them
 * @throws CINNABAR_ACCESS_DENIED when the actor may run none
 */
async function groupHelp(
  access: Access,
  actor: Actor,
  group: GroupEntry,
  prefix: string,
  stray: string | undefined,
): Promise<string> {
  const leaves = leavesOf(group).filter((leaf) => leaf.surface !== 'slash');
  const { visible, refusal } = await visibleAmong(access, actor, leaves);
  if (visible.length === 0 && refusal !== undefined) throw denial(refusal);
  return [
    ...(stray === undefined ? [] : [strayLine(group, prefix, stray, visible)]),
    `**${prefix}${group.name}**: ${translated(group.description)}`,
    ...visible.map((leaf) => line(leaf, prefix)),
    ...(group.help === undefined ? [] : [translated(group.help)]),
  ].join('\n');
}

function strayLine(group: GroupEntry, prefix: string, stray: string, visible: readonly CommandEntry[]): string {
  const typed = `${group.name} ${stray}`;
  const [near] = nearest(
    stray,
    visible.map((leaf) => leaf.key),
  );
  const meant = visible.find((leaf) => leaf.key === near);
  return meant === undefined
    ? t('There is no {typed}.', { typed: echo(prefix + typed) })
    : t('There is no {typed}. Did you mean {meant}?', {
        typed: echo(prefix + typed),
        meant: echo(`${prefix}${meant.name}`),
      });
}

function line({ name, description, info }: CommandEntry, prefix: string): string {
  return `\`${`${prefix}${name} ${info.usage}`.trimEnd()}\` ${translated(description)}`;
}

/** Matches words that may be mistyped commands: with a letter, and only characters of names. So a price, a CSS rule or another bot's `!!` does not match. */
const LIKE_A_NAME = /^(?=.*\p{L})[\p{L}\p{N}_-]+$/u;

const MINUTE_MS = 60_000;
/** Suggestions per minute: an unknown command once is a typing mistake, but repeatedly it is another bot's. */
const PER_MEMBER = 5;
const PER_CHANNEL = 10;

type SuggestDependencies = Pick<
  CommandServices,
  'access' | 'clock' | 'enabledIn' | 'pluginIds' | 'boundary' | 'languages'
>;

/**
 * Answers commands that cannot be run. For a command whose plugin is switched off here, the answer is that it is not available. For an unknown command, the
 * answer is "did you mean" if Red has a command of that name, or a similar name exists, and the member may use the suggested command. Otherwise no answer is
 * sent, since other bots may share the prefix; and none after a mention and in direct messages, where the text is for `ai`.
 * @param isWanted whether suggestions are on in a guild
 */
function createSuggester(
  { access, clock, enabledIn, boundary, languages, pluginIds }: SuggestDependencies,
  registry: Registry,
  execution: Execution,
  isWanted: (guildId: string) => MaybeLater<boolean>,
) {
  const members = createRateLimiter(clock, MINUTE_MS);
  const channels = createRateLimiter(clock, MINUTE_MS);
  const mayAnswer = ({ author, channelId }: Message) =>
    members.take(`${channelId}/${author.id}`, PER_MEMBER) === undefined &&
    channels.take(channelId, PER_CHANNEL) === undefined;

  /** The command or group that a full name begins with; words after a command are its arguments. */
  const entryAt = (name: string): Entry | undefined => {
    const [first = '', ...others] = name.split(' ');
    let entry = registry.find(first);
    for (const word of others) if (entry?.kind === 'group') entry = entry.byName.get(word);
    return entry?.surface === 'slash' ? undefined : entry;
  };
  const isOn = (guildId: string, { owner }: Entry) => enabledIn(guildId, owner.plugin);
  const candidates = (message: Message, { word, end }: Recognised, guildId: string) => {
    const next = readToken(message.content, end)?.text.toLowerCase();
    const known = sameAsInRed(next === undefined ? word : `${word} ${next}`);
    const off = known.flatMap((name) => {
      const entry = entryAt(name);
      return entry === undefined || isOn(guildId, entry) ? [] : [`plugin enable ${entry.owner.plugin.manifest.id}`];
    });
    const plugin = pluginIds?.().includes(word) === true ? [`plugin info ${word}`, `help ${word}`] : [];
    const near = isInRedAlone(word) ? [] : nearest(word, registry.names());
    return [...known, ...off, ...plugin, ...near].flatMap((name) => {
      const entry = entryAt(name);
      return entry === undefined || !isOn(guildId, entry) ? [] : [{ name, entry }];
    });
  };

  const suggestionFor = async (
    message: Message,
    { prefix, word }: Recognised,
    near: ReturnType<typeof candidates>,
    guildId: string,
  ): Promise<string | undefined> => {
    if (!(await isWanted(guildId))) return undefined;
    for (const { name, entry } of near) {
      const { visible } = await visibleAmong(access, actorOf(message), leavesOf(entry));
      if (visible.length === 0) continue;
      if (!mayAnswer(message)) return undefined;
      return t('There is no {typed}. Did you mean {meant}?', {
        typed: echo(prefix + word),
        meant: echo(prefix + name),
      });
    }
    return undefined;
  };

  /** The answer about a plugin that is switched off; for a member who may switch it on, with the command. */
  const sentenceForOff = async (actor: Actor, plugin: string, { prefix }: Recognised, guildId: string) => {
    const remedy = entryAt('plugin enable');
    const leaves = remedy !== undefined && isOn(guildId, remedy) ? leavesOf(remedy) : [];
    const { visible } = await visibleAmong(access, actor, leaves);
    if (visible.length === 0) return notAvailable();
    return t('The plugin {plugin} is switched off in this server. {command} switches it on.', {
      plugin: echo(plugin),
      command: echo(`${prefix}plugin enable ${plugin}`),
    });
  };

  return (message: Message, recognised: Recognised): void => {
    const { prefix, word } = recognised;
    const { channel, guildId } = message;
    if (guildId === null || prefix.startsWith('<@') || !LIKE_A_NAME.test(word) || !channel.isSendable()) return;
    const off = registry.find(word);
    const isOff = off !== undefined && off.surface !== 'slash';
    const near = isOff ? [] : candidates(message, recognised, guildId);
    const owner = isOff ? off.owner : near[0]?.entry.owner;
    if (owner === undefined) return;
    const actor = actorOf(message);
    const answers = answerMessage(message, channel, execution, owner);
    const say = async (): Promise<void> => {
      try {
        if (await access.ignores(actor)) return;
        const content = isOff
          ? await sentenceForOff(actor, off.owner.plugin.manifest.id, recognised, guildId)
          : await suggestionFor(message, recognised, near, guildId);
        if (content !== undefined) await answers.reply({ content, notice: true });
      } catch (error) {
        const failed = { what: 'command suggestion', actor, error, log: owner.log, forOperator: false };
        await answerFailure(execution, failed, answers);
      }
    };
    void boundary.run(owner, guildId, isOff ? 'command that is switched off' : 'command suggestion', () =>
      languages.serve(audienceOf(message), undefined, say),
    );
  };
}

/** Answers to a message: the first one replies to it (unless it was deleted), the others follow in the channel. */
function answerMessage(
  message: Message,
  channel: SendableChannels,
  { clock, lost }: Execution,
  { scope: { signal } }: Owner,
): Answers {
  let answered = false;
  let serial = 0;

  const send = async (part: ReturnType<typeof partsOf>[number]) => {
    const reference =
      answered || !mayRefer(channel) ? {} : { reply: { messageReference: message, failIfNotExists: false } };
    serial += 1;
    const key = answerKey(message.id, serial);
    const retry = { clock, signal, pausesMs: ANSWER_PAUSES_MS };
    const sent = await lost.attempt<Message>(channel.id, () =>
      sendOnce(channel, { ...part, ...reference }, key, retry),
    );
    answered = true;
    return sent;
  };

  const answers: Answers = {
    async reply(reply) {
      const [first, ...others] = partsOf(reply, message.author.id);
      let last = await send(first);
      for (const part of others) last = await send(part);
      return last;
    },
    async defer() {
      await lost.attempt(channel.id, () =>
        channel.sendTyping().catch((error: unknown) => {
          // The typing indicator is optional: its errors are ignored.
          if (!isTransient(error)) throw error;
        }),
      );
    },
    async refuse(sentence) {
      await answers.reply({ content: sentence, notice: true });
    },
    ignore: async () => undefined,
    finish: () => undefined,
    close: () => undefined,
  };
  return answers;
}
