import { compareIds, createdAt, isUnknown, t, UserError } from '@cinnabar/sdk';
import { type Client, type GuildTextBasedChannel, type Message, Routes } from 'discord.js';
import { MOST_PURGED } from './settings.js';

const PAGE = 100;
const BULK = 100;
/** Number of messages that one command searches. */
const MOST_READ = 5_000;
/** Discord deletes messages in bulk up to an age of two weeks; one hour less leaves time for the purge itself. */
const BULK_AGE_MS = 14 * 86_400_000 - 3_600_000;
const LINK = /\bhttps?:\/\/\S/i;

/** Selects the latest messages that are to be deleted. */
export interface PurgeFilter {
  /** Maximum number of messages. */
  readonly count: number;
  readonly from?: string | undefined;
  readonly bots?: boolean | undefined;
  readonly contains?: string | undefined;
  readonly links?: boolean | undefined;
  readonly files?: boolean | undefined;
  /** Message ids: selects only older, or newer, messages. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** Also selects pinned messages. */
  readonly pinned?: boolean | undefined;
  /** Keeps the bot's latest messages: the card or answer of this purge is among them. */
  readonly spare?: { readonly authorId: string; readonly since: string } | undefined;
}

/** The messages that match a filter, newest first. */
export interface Found {
  readonly ids: readonly string[];
  /** Whether the search ended at its limit of messages, not at the beginning of the channel. */
  readonly isCut: boolean;
}

export interface Purged {
  readonly deleted: number;
  /** Whether the bot's stop ended it early. */
  readonly isStopped: boolean;
}

/** The id in a link to a message, or the id itself. @throws UserError */
export function messageIdIn(text: string): string {
  const id = /(\d{15,21})\/?>?$/.exec(text.trim())?.[1];
  if (id === undefined) throw new UserError(t('Name the message by its link or its id.'));
  return id;
}

function matches(message: Message, filter: PurgeFilter): boolean {
  const { from, bots, contains, links, files, pinned, spare } = filter;
  if (message.author.id === spare?.authorId && compareIds(message.id, spare.since) >= 0) return false;
  if (message.pinned && pinned !== true) return false;
  if (from !== undefined && message.author.id !== from) return false;
  if (bots === true && !message.author.bot) return false;
  if (contains !== undefined && !message.content.toLowerCase().includes(contains.toLowerCase())) return false;
  if (links === true && !LINK.test(message.content)) return false;
  return files !== true || message.attachments.size > 0;
}

/** Searches backwards from the newest message. */
export async function findMessages(
  channel: GuildTextBasedChannel,
  filter: PurgeFilter,
  signal: AbortSignal,
): Promise<Found> {
  const ids: string[] = [];
  const most = Math.min(filter.count, MOST_PURGED);
  let { before } = filter;
  for (let read = 0; read < MOST_READ; read += PAGE) {
    signal.throwIfAborted();
    const page = await channel.messages.fetch({
      limit: PAGE,
      cache: false,
      ...(before === undefined ? {} : { before }),
    });
    for (const message of page.values()) {
      if (filter.after !== undefined && compareIds(message.id, filter.after) <= 0) return { ids, isCut: false };
      if (matches(message, filter)) ids.push(message.id);
      if (ids.length >= most) return { ids, isCut: false };
    }
    before = page.lastKey();
    if (page.size < PAGE || before === undefined) return { ids, isCut: false };
  }
  return { ids, isCut: true };
}

interface PurgeOptions {
  /** Reason for Discord's audit log. */
  readonly reason: string;
  readonly now: number;
  readonly signal: AbortSignal;
  onProgress(deleted: number): Promise<void> | void;
}

/**
 * Deletes messages: in bulk where Discord allows it, one by one when they are older than two weeks. Messages that no longer exist count as deleted. A channel
 * has at most one purge at a time. @throws UserError while another purge runs
 */
type DeleteMessages = (channelId: string, ids: readonly string[], options: PurgeOptions) => Promise<Purged>;

export function createDeleteMessages(client: Client): DeleteMessages {
  const busy = new Set<string>();
  return async (channelId, ids, options) => {
    if (busy.has(channelId)) {
      throw new UserError(t('Messages of this channel are being deleted already. Wait until that has ended.'));
    }
    busy.add(channelId);
    try {
      return await deleteAll(client, channelId, ids, options);
    } finally {
      busy.delete(channelId);
    }
  };
}

async function deleteAll(
  client: Client,
  channelId: string,
  ids: readonly string[],
  { reason, now, signal, onProgress }: PurgeOptions,
): Promise<Purged> {
  const young = ids.filter((id) => now - createdAt(id) < BULK_AGE_MS);
  const old = ids.filter((id) => now - createdAt(id) >= BULK_AGE_MS);
  let deleted = 0;
  const batches = [...chunks(young, BULK), ...old.map((id) => [id])];
  for (const batch of batches) {
    if (signal.aborted) return { deleted, isStopped: true };
    const [first] = batch;
    // The corresponding methods of discord.js do not send a reason.
    if (batch.length > 1) {
      await client.rest.post(Routes.channelBulkDelete(channelId), { body: { messages: batch }, reason });
    } else if (first !== undefined) {
      await client.rest.delete(Routes.channelMessage(channelId, first), { reason }).catch((error: unknown) => {
        if (!isUnknown(error)) throw error;
      });
    }
    deleted += batch.length;
    await onProgress(deleted);
  }
  return { deleted, isStopped: false };
}

function chunks<T>(values: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, at) => values.slice(at * size, (at + 1) * size));
}
