import type { Ledger, Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { channelOf } from '../discord/place.js';
import type { Board } from '../waiting/board.js';
import { type Expiry, REASONS } from '../waiting/expiry.js';
import type { CardRecord, Records } from '../waiting/records.js';

interface Parts {
  readonly board: Board;
  readonly records: Records;
  readonly expiry: Expiry;
  readonly ledger: Ledger;
  readonly client: Client;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** How many requests to Discord a start makes for this; what is left is marked when its requester is next heard of, or at the next start. */
const REQUESTS_AT_START = 200;
/** How far back a card is looked for whose delivery was never confirmed. */
const LOOKED_THROUGH = 50;

/** After a restart: cards of the earlier run cannot be decided any more, and are made to say so. One request at a time. */
export async function recoverCards(parts: Parts): Promise<void> {
  const { board, records, expiry, signal } = parts;
  let requests = 0;
  for (const [callId, record] of await leftOver(parts)) {
    if (signal.aborted) return;
    if (!(await isOver(parts, callId))) continue;
    if (record.messageId === undefined && ++requests > REQUESTS_AT_START) continue;
    const messageId = record.messageId ?? (await lookFor(parts, record));
    if (messageId === undefined) {
      await records.delete(callId);
      continue;
    }
    const { userId, guildId, channelId, content } = record;
    const place = { userId, guildId, channelId, messageId };
    const card = { callId, ...place, sentence: '', content, hasButtons: false, expiresAt: 0, request: undefined };
    board.add(card);
    if (++requests <= REQUESTS_AT_START) await expiry.expire(card, REASONS.timedOut);
  }
}

/** Records of this process's guilds that are not of a card which it has posted itself. */
async function leftOver({ board, records, client }: Parts): Promise<[callId: string, record: CardRecord][]> {
  const left: [callId: string, record: CardRecord][] = [];
  for await (const [callId, record] of records.all()) left.push([callId, record]);
  const open = new Set([...board.all()].map((card) => card.callId));
  return left.filter(
    ([callId, { guildId }]) => !open.has(callId) && (guildId === null || client.guilds.cache.has(guildId)),
  );
}

/** Whether the call ended without a decision. One that was decided needs no mark; one that is open belongs to somebody. */
async function isOver({ ledger, records }: Parts, callId: string): Promise<boolean> {
  const state = (await ledger.get(callId))?.state;
  if (state === undefined || state === 'expired') return true;
  if (state !== 'proposed' && state !== 'pending') await records.delete(callId);
  return false;
}

/** A card whose delivery was not confirmed: the bot's own message with that very text, since then. */
async function lookFor({ client, log }: Parts, record: CardRecord): Promise<string | undefined> {
  try {
    const channel = await channelOf(client, record.channelId);
    const since = await channel?.messages.fetch({ after: record.after, limit: LOOKED_THROUGH, cache: false });
    return since?.find(({ author, content }) => author.id === client.user?.id && content === record.content)?.id;
  } catch (error) {
    log.warn('a card could not be looked for', { channelId: record.channelId, error });
    return undefined;
  }
}
