import {
  compareIds,
  idAfter,
  OLDEST_ID,
  olderId,
  refusalSentence,
  type ToolDefinition,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { Attachment, Collection, Guild, GuildBasedChannel, Message } from 'discord.js';
import { guildField, readChannel, readId, readMessage } from '../arguments.js';
import { discordTool } from '../discord-tool.js';
import { fitting, type MessageView, messageText, viewMessage } from '../message-view.js';
import { findChannel, messageSources, type ReadableChannel, unreachableChannel } from '../places.js';
import { channelsWith, READING, requireOpen, seenGuild } from '../rights.js';
import { stopWhenCancelled } from '../sending.js';
import type { Caller, Context } from '../settings.js';

/** Limits of one search: pages of 100 messages, and time. */
const MAX_PAGES = 60;
const MAX_MS = 20_000;
const LAST_ID = String(2n ** 63n);
/** Length of the line above each result, in characters. */
const CHANNEL_LINE = 60;

/** The order is that of Discord's own search: https://discord.com/developers/docs/resources/message#search-guild-messages */
const HAS = ['link', 'embed', 'file', 'image', 'video', 'sound', 'sticker', 'poll', 'snapshot'] as const;

const filterFields = {
  content: z.string().max(1024).optional().describe('Words that all occur; "several words" in quotes occur together'),
  authorId: z.string().max(30).optional().describe('Only messages of this user: their id'),
  mentions: z.string().max(30).optional().describe('Only messages that mention this user: their id'),
  has: z.enum(HAS).optional().describe('Only messages that have this'),
  pinned: z.boolean().optional().describe('Only messages that are pinned, or that are not'),
  authorType: z.enum(['user', 'bot', 'webhook']).optional().describe('Only messages of this kind of author'),
} as const;

export function searchTool(context: Context): ToolDefinition {
  const { client, clock } = context;
  return discordTool({
    name: 'discord_search_messages',
    description:
      'Search the messages of a server by words, author, mentions, attachments and more, in every channel and open thread that you can read.',
    input: z.object({
      guildId: guildField,
      ...filterFields,
      channelId: z.string().max(200).optional().describe('Only in this channel, thread or forum'),
      maxId: z.string().max(200).optional().describe('Only messages before this one: its id'),
      minId: z.string().max(200).optional().describe('Only messages after this one: its id'),
      sortBy: z.enum(['timestamp', 'relevance']).default('timestamp').describe('relevance: how often the words occur'),
      sortOrder: z.enum(['desc', 'asc']).default('desc').describe('desc: the newest, or the best, first'),
      limit: z.number().int().min(1).max(100).default(25).describe('How many results, at most 100'),
      offset: z.number().int().min(0).max(9975).default(0).describe('How many results to pass over'),
    }),
    risk: 'read',
    examples: [
      'search for {content} in server {guildId}',
      'find messages with {content} in server {guildId}',
      'search server {guildId} for messages by {authorId}',
    ],
    runsIn: ({ guildId }) => readId(guildId, 'server'),
    async run(given, call) {
      const guild = client.guilds.cache.get(readId(given.guildId, 'server'));
      const channels = await searchedChannels(context, call, guild, given.channelId);
      const fits = createFilter(given);
      const started = clock.now();
      let pages = 0;
      const byTime = given.sortBy === 'timestamp';
      const row = walk(channels, {
        order: byTime ? given.sortOrder : 'desc',
        minId: idOf(given.minId) ?? OLDEST_ID,
        maxId: idOf(given.maxId) ?? LAST_ID,
        mayContinue() {
          stopWhenCancelled(call.signal);
          if (pages >= MAX_PAGES || clock.now() - started > MAX_MS) return false;
          pages += 1;
          call.progress({ progress: pages, message: t('reading page {pages}', { pages }) });
          return true;
        },
      });
      const end = given.offset + given.limit;
      const found: { message: Message; score: number }[] = [];
      let last: Message | undefined;
      let next = await row.next();
      for (; next.done !== true; next = await row.next()) {
        last = next.value;
        const score = fits(last);
        if (score !== undefined) found.push({ message: last, score });
        if (byTime && found.length > end) break;
      }
      if (!byTime) found.sort((one, other) => (one.score - other.score) * (given.sortOrder === 'asc' ? 1 : -1));
      const wasCut = next.done === true && !next.value;
      return {
        ...pageOf(found, given, call.mostCharacters, wasCut),
        ...(wasCut ? { cutAt: (last?.createdAt ?? new Date(started)).toISOString() } : {}),
      };
    },
    sources: ({ messages }) => messageSources(client, messages),
    present: {
      sentence: () => t("I'll search the messages of this server"),
      action: 'Search messages',
      success: (_, found) => foundText(found),
    },
  });
}

/**
 * The channels that a search reads: all that the caller can read, with their open threads, or the named one (for a forum, its open posts).
 * @throws UserError
 */
async function searchedChannels(
  context: Context,
  caller: Caller,
  guild: Guild | undefined,
  only: string | undefined,
): Promise<readonly ReadableChannel[]> {
  if (only !== undefined) return inChannel(context, caller, guild, only);
  const seen = await seenGuild(context, caller, guild, READING);
  const threads = await openThreads(context, caller, seen.guild);
  return [...seen.channels, ...threads].flatMap((channel) => (channel.isTextBased() ? [channel] : []));
}

async function inChannel(context: Context, caller: Caller, guild: Guild | undefined, only: string) {
  const channel = await findChannel(context.client, readChannel(only).channelId);
  const isThere = guild !== undefined && channel !== undefined && !channel.isDMBased() && channel.guildId === guild.id;
  const [readable] = isThere ? await channelsWith(context, caller, [channel], READING) : [];
  if (readable === undefined || guild === undefined) throw unreachableChannel();
  await requireOpen(context, caller, guild);
  if (readable.isTextBased()) return [readable];
  const posts = await openThreads(context, caller, guild);
  return posts.flatMap((post) => (post.parentId === readable.id && post.isTextBased() ? [post] : []));
}

async function openThreads(context: Context, caller: Caller, guild: Guild): Promise<readonly GuildBasedChannel[]> {
  const { threads } = await guild.channels.fetchActiveThreads();
  return channelsWith(context, caller, threads.values(), READING);
}

type Filter = z.output<z.ZodObject<typeof filterFields>>;

const LINK = /https?:\/\/\S/i;

const HAS_IT: Readonly<Record<(typeof HAS)[number], (message: Message) => boolean>> = {
  link: ({ content }) => LINK.test(content),
  embed: ({ embeds }) => embeds.length > 0,
  file: ({ attachments }) => attachments.size > 0,
  image: ({ attachments }) => attachments.some(isOf('image/')),
  video: ({ attachments }) => attachments.some(isOf('video/')),
  sound: ({ attachments }) => attachments.some(isOf('audio/')),
  sticker: ({ stickers }) => stickers.size > 0,
  poll: ({ poll }) => poll !== null,
  snapshot: ({ messageSnapshots }) => messageSnapshots.size > 0,
};

/** A function that counts how often the words occur in a message; `undefined` for a message that does not match. */
function createFilter(filter: Filter): (message: Message) => number | undefined {
  const words = wordsIn(filter.content ?? '');
  const author = filter.authorId === undefined ? undefined : readId(filter.authorId, 'user');
  const mentioned = filter.mentions === undefined ? undefined : readId(filter.mentions, 'user');
  return (message) => {
    if (author !== undefined && message.author.id !== author) return undefined;
    if (mentioned !== undefined && !message.mentions.users.has(mentioned)) return undefined;
    if (filter.has !== undefined && !HAS_IT[filter.has](message)) return undefined;
    if (filter.pinned !== undefined && message.pinned !== filter.pinned) return undefined;
    const view = viewMessage(message);
    if (filter.authorType !== undefined && view.author.kind !== filter.authorType) return undefined;
    const embedded = view.embeds.flatMap(({ title, description }) => [title ?? '', description ?? '']);
    const text = [view.content, view.forwarded ?? '', ...embedded].join('\n').toLowerCase();
    const counts = words.map((word) => text.split(word).length - 1);
    return counts.every((count) => count > 0) ? counts.reduce((sum, count) => sum + count, 0) : undefined;
  };
}

/** `deploy "on friday"` → `deploy`, `on friday`. */
function wordsIn(content: string): readonly string[] {
  return [...content.toLowerCase().matchAll(/"([^"]+)"|(\S+)/g)]
    .map(([, phrase, word]) => (phrase ?? word ?? '').trim())
    .filter((word) => word !== '' && word !== '"');
}

function isOf(type: string): (attachment: Attachment) => boolean {
  return ({ contentType }) => contentType?.startsWith(type) === true;
}

interface Found {
  readonly messages: readonly MessageView[];
  /** Whether there are, or may be, more results. */
  readonly more: boolean;
  /** The offset of the next results, if not all fit. */
  readonly nextOffset?: number;
  /** Set when the search ended early: the time that it reached, ISO 8601. */
  readonly cutAt?: string;
}

/** The requested results, as many as fit. */
function pageOf(
  found: readonly { readonly message: Message }[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
  most: number,
  wasCut: boolean,
): Pick<Found, 'messages' | 'more' | 'nextOffset'> {
  const asked = found.slice(offset, offset + limit).map(({ message }) => viewMessage(message));
  const messages = fitting(asked, most - asked.length * CHANNEL_LINE, 'beginning');
  const fit = messages.length === asked.length;
  return {
    messages,
    more: !fit || found.length > offset + limit || wasCut,
    ...(fit ? {} : { nextOffset: offset + messages.length }),
  };
}

function idOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const id = String(BigInt(readMessage('0', text).messageId));
  if (compareIds(id, LAST_ID) >= 0) throw new UserError(t('There are no message ids as large as that.'));
  return id;
}

function foundText({ messages, more, nextOffset, cutAt }: Found): string {
  const cut =
    cutAt === undefined
      ? []
      : [t('The search was cut short at {cutAt}: what lies beyond was not looked at.', { cutAt })];
  if (messages.length === 0) return [t('No messages found.'), ...cut].join('\n\n');
  const next =
    nextOffset === undefined
      ? t('There are more: use offset.')
      : t('More did not fit: go on with offset: {offset}.', { offset: nextOffset });
  const heading = [
    t('{count} messages found.', { count: messages.length }),
    ...(nextOffset !== undefined || (more && cutAt === undefined) ? [next] : []),
  ];
  const texts = messages.map(
    (message) => `${t('in <#{id}> ({id})', { id: message.channelId })}\n${messageText(message)}`,
  );
  return [heading.join(' '), ...texts, ...cut].join('\n\n');
}

type Order = 'desc' | 'asc';

interface WalkOptions {
  readonly order: Order;
  /** Only messages after this one. */
  readonly minId: string;
  /** Only messages before this one. */
  readonly maxId: string;
  /** Called before each page: `false` ends the search. */
  mayContinue(): boolean;
}

/** One channel, and how far it was read. */
interface Source {
  readonly channel: ReadableChannel;
  /** Messages that were read and not yielded yet, the next one first. */
  read: Message[];
  /** The id beyond which messages are unread. */
  edge: string;
  end: boolean;
}

const PAGE = 100;

/**
 * Merges the messages of many channels, newest (or oldest) first. Reads a page only when it is needed, so that the newest messages of a large guild cost a few
 * requests. Returns `true` when all messages were yielded.
 */
async function* walk(
  channels: readonly ReadableChannel[],
  options: WalkOptions,
): AsyncGenerator<Message, boolean, undefined> {
  const { order, minId, maxId, mayContinue } = options;
  const newest = order === 'desc';
  const sources = channels.map((channel): Source => {
    const last = channel.lastMessageId == null ? maxId : idAfter(channel.lastMessageId);
    return { channel, read: [], edge: newest ? olderId(last, maxId) : minId, end: false };
  });
  for (;;) {
    const source = nextOf(sources, newest);
    if (source === undefined) return true;
    const message = source.read.shift();
    if (message === undefined) {
      if (!mayContinue()) return false;
      await readPage(source, newest);
    } else if (isWithin(message, minId, maxId)) {
      yield message;
    } else {
      source.end = true;
      source.read = [];
    }
  }
}

/** The source whose next message, or unread part, is first. */
function nextOf(sources: readonly Source[], newest: boolean): Source | undefined {
  let best: Source | undefined;
  for (const source of sources) {
    if (source.end && source.read.length === 0) continue;
    if (best === undefined || compareIds(headOf(source), headOf(best)) === (newest ? 1 : -1)) best = source;
  }
  return best;
}

function headOf({ read, edge }: Source): string {
  return read[0]?.id ?? edge;
}

async function readPage(source: Source, newest: boolean): Promise<void> {
  const { channel, edge } = source;
  const range = newest ? { before: edge } : { after: edge };
  const page = await readable(channel.messages.fetch({ limit: PAGE, cache: false, ...range }));
  page.sort((one, other) => compareIds(one.id, other.id) * (newest ? -1 : 1));
  const last = page.at(-1);
  source.read = page;
  if (last !== undefined) source.edge = last.id;
  source.end = page.length < PAGE;
}

/** The fetched messages; none if Discord no longer allows the bot to read the channel, so that one channel does not end the search. */
async function readable(fetched: Promise<Collection<string, Message>>): Promise<Message[]> {
  try {
    return [...(await fetched).values()];
  } catch (error) {
    if (refusalSentence(error) === undefined) throw error;
    return [];
  }
}

function isWithin({ id }: Message, minId: string, maxId: string): boolean {
  return compareIds(id, minId) > 0 && compareIds(id, maxId) < 0;
}
