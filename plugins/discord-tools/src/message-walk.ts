import type { Collection, Message } from 'discord.js';
import { sentenceFor } from './discord-errors.js';
import type { ReadableChannel } from './places.js';

type Order = 'desc' | 'asc';

interface WalkOptions {
  readonly order: Order;
  /** Only messages after this one. */
  readonly minId: bigint;
  /** Only messages before this one. */
  readonly maxId: bigint;
  /** Asked before each page: `false` ends the walk. */
  goOn(): boolean;
}

/** One channel, as far as it has been read. */
interface Source {
  readonly channel: ReadableChannel;
  /** Read and not yet passed on, the next one first. */
  read: Message[];
  /** What has not been read lies beyond this id. */
  edge: bigint;
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
    const last = channel.lastMessageId == null ? maxId : BigInt(channel.lastMessageId) + 1n;
    return { channel, read: [], edge: newest ? smaller(last, maxId) : minId, end: false };
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
    if (best === undefined || (newest ? headOf(source) > headOf(best) : headOf(source) < headOf(best))) best = source;
  }
  return best;
}

function headOf({ read, edge }: Source): bigint {
  const [next] = read;
  return next === undefined ? edge : BigInt(next.id);
}

async function readPage(source: Source, newest: boolean): Promise<void> {
  const { channel, edge } = source;
  const range = newest ? { before: String(edge) } : { after: String(edge) };
  const page = await readable(channel.messages.fetch({ limit: PAGE, cache: false, ...range }));
  page.sort((one, other) => (BigInt(one.id) < BigInt(other.id) === newest ? 1 : -1));
  const last = page.at(-1);
  source.read = page;
  if (last !== undefined) source.edge = BigInt(last.id);
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

function isWithin({ id }: Message, minId: bigint, maxId: bigint): boolean {
  return BigInt(id) > minId && BigInt(id) < maxId;
}

const smaller = (one: bigint, other: bigint) => (one < other ? one : other);
