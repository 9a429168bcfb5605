import { compareIds, idAfter, olderId } from '@cinnabar/sdk';
import type { Collection, Message } from 'discord.js';
import { sentenceFor } from './discord-errors.js';
import type { ReadableChannel } from './places.js';

type Order = 'desc' | 'asc';

interface WalkOptions {
  readonly order: Order;
  /** Only messages after this one. */
  readonly minId: string;
  /** Only messages before this one. */
  readonly maxId: string;
  /** Asked before each page: `false` ends the walk. */
  goOn(): boolean;
}

/** One channel, as far as it has been read. */
interface Source {
  readonly channel: ReadableChannel;
  /** Read and not yet passed on, the next one first. */
  read: Message[];
  /** What has not been read lies beyond this id. */
  edge: string;
  end: boolean;
}

const PAGE = 100;

/**
 * The messages of many channels as one row, newest (or oldest) first. A page is read only when its turn has come, so that the newest
 * messages of a large guild cost a few requests. Returns whether it came to the end.
 */
export async function* walk(
  channels: readonly ReadableChannel[],
  options: WalkOptions,
): AsyncGenerator<Message, boolean, undefined> {
  const { order, minId, maxId, goOn } = options;
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
      if (!goOn()) return false;
      await readPage(source, newest);
    } else if (isWithin(message, minId, maxId)) {
      yield message;
    } else {
      source.end = true;
      source.read = [];
    }
  }
}

/** The source whose next message, or whose unread rest, comes first. */
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

/** Nothing, where Discord no longer lets the bot read: one channel must not end the search. */
async function readable(fetched: Promise<Collection<string, Message>>): Promise<Message[]> {
  try {
    return [...(await fetched).values()];
  } catch (error) {
    if (sentenceFor(error) === undefined) throw error;
    return [];
  }
}

function isWithin({ id }: Message, minId: string, maxId: string): boolean {
  return compareIds(id, minId) > 0 && compareIds(id, maxId) < 0;
}
