import { type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import type { Parts } from '../../parts.js';
import { guildField } from '../../reaching/fields.js';
import { readId, readMessage } from '../../reaching/references.js';
import { type MessageView, viewMessage } from '../../reading/message.js';
import { fitting, messageText } from '../../reading/message-text.js';
import { messageSources } from '../../reading/sources.js';
import { channelsToSearch } from '../../searching/channels.js';
import { createFilter, filterFields } from '../../searching/filter.js';
import { walk } from '../../searching/walk.js';
import { stopWhenCancelled } from '../../sending/cancelled.js';

/** How much of a guild one search looks through: this many pages of 100 messages, or this long. */
const MOST_PAGES = 60;
const LONGEST_MS = 20_000;
const LAST_ID = 2n ** 63n;
/** Stands above each result. */
const CHANNEL_LINE = 60;

const input = z.object({
  guildId: guildField,
  ...filterFields,
  channelId: z.string().max(200).optional().describe('Only in this channel, thread or forum'),
  maxId: z.string().max(200).optional().describe('Only messages before this one: its id'),
  minId: z.string().max(200).optional().describe('Only messages after this one: its id'),
  sortBy: z.enum(['timestamp', 'relevance']).default('timestamp').describe('relevance: how often the words occur'),
  sortOrder: z.enum(['desc', 'asc']).default('desc').describe('desc: the newest, or the best, first'),
  limit: z.number().int().min(1).max(100).default(25).describe('How many results, at most 100'),
  offset: z.number().int().min(0).max(9975).default(0).describe('How many results to pass over'),
});

interface Found {
  readonly messages: readonly MessageView[];
  /** Whether there are, or may be, more. */
  readonly more: boolean;
  /** The offset at which to go on, when not all results did fit. */
  readonly nextOffset?: number;
  /** Set when the search ended before it had looked everywhere: the time that it came to, ISO 8601. */
  readonly cutAt?: string;
}

export function searchMessages(parts: Parts): ToolDefinition<typeof input, Found> {
  const tool = 'discord_search_messages';
  return {
    name: tool,
    description:
      'Search the messages of a server by words, author, mentions, attachments and more, in every channel and open thread that you can read.',
    input,
    risk: 'read',
    sources: ({ messages }) => messageSources(parts.client, messages),
    examples: [
      'search for {content} in server {guildId}',
      'find messages with {content} in server {guildId}',
      'search server {guildId} for messages by {authorId}',
    ],
    present: {
      sentence: () => "I'll search the messages of this server",
      action: 'Search messages',
      success: (_, found) => foundText(found),
    },
    async run(given, { actor, signal, progress, mostCharacters }) {
      const guild = parts.client.guilds.cache.get(readId(given.guildId, 'server'));
      const channels = await channelsToSearch(parts, { actor, tool }, guild, given.channelId);
      const fits = createFilter(given);
      const started = parts.clock.now();
      let pages = 0;
      const byTime = given.sortBy === 'timestamp';
      const row = walk(channels, {
        order: byTime ? given.sortOrder : 'desc',
        minId: idOf(given.minId) ?? 0n,
        maxId: idOf(given.maxId) ?? LAST_ID,
        goOn() {
          stopWhenCancelled(signal);
          if (pages >= MOST_PAGES || parts.clock.now() - started > LONGEST_MS) return false;
          pages += 1;
          progress({ progress: pages, message: `reading page ${pages}` });
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
        ...pageOf(
          found.map(({ message }) => message),
          given,
          mostCharacters,
          wasCut,
        ),
        ...(wasCut ? { cutAt: (last?.createdAt ?? new Date(started)).toISOString() } : {}),
      };
    },
  };
}

/** The results that were asked for, as far as they fit. */
function pageOf(
  found: readonly Message[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
  most: number,
  wasCut: boolean,
): Pick<Found, 'messages' | 'more' | 'nextOffset'> {
  const asked = found.slice(offset, offset + limit).map(viewMessage);
  const messages = fitting(asked, most - asked.length * CHANNEL_LINE, 'beginning');
  const fit = messages.length === asked.length;
  return {
    messages,
    more: !fit || found.length > offset + limit || wasCut,
    ...(fit ? {} : { nextOffset: offset + messages.length }),
  };
}

function idOf(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  const id = BigInt(readMessage('0', text).messageId);
  if (id >= LAST_ID) throw new UserError('There are no message ids as large as that.');
  return id;
}

function foundText({ messages, more, nextOffset, cutAt }: Found): string {
  const cut =
    cutAt === undefined ? '' : `\n\nThe search was cut short at ${cutAt}: what lies beyond was not looked at.`;
  if (messages.length === 0) return `No messages found.${cut}`;
  const next =
    nextOffset === undefined ? ' There are more: use offset.' : ` More did not fit: go on with offset: ${nextOffset}.`;
  const rest = nextOffset !== undefined || (more && cutAt === undefined) ? next : '';
  const texts = messages.map((message) => `in <#${message.channelId}> (${message.channelId})\n${messageText(message)}`);
  return `${messages.length} messages found.${rest}\n\n${texts.join('\n\n')}${cut}`;
}
