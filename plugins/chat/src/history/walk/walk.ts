import type { SendableChannels } from 'discord.js';
import { refusalFor } from '../access/may-read.js';
import { compareIds } from '../snowflake.js';
import type { Held } from '../store/held.js';
import { HIDDEN } from './command.js';
import { type Read, readPlace, type WalkParts } from './place.js';
import type { Place, Trip } from './trip.js';

/** How far beyond its limit a window may grow: as much as the configuration lets it before it rolls. */
const MOST_BEYOND = 1_000;
/** Places that one history may go through. */
const MOST_PLACES = 16;

const NOTHING: Read = { messages: [], full: false, next: undefined };

export interface Walked {
  /** Oldest first. */
  readonly messages: readonly Held[];
  readonly whole: boolean;
}

/** Reads a channel backwards, and on through `.history` messages and out of threads, until the window is full or nothing is left. */
export async function walk(channel: SendableChannels, trip: Trip, parts: WalkParts): Promise<Walked> {
  const { limit, from, readers } = trip.options;
  const most = limit + MOST_BEYOND;
  let messages: readonly Held[] = [];
  let place: Place | undefined = { channel, upTo: undefined, downTo: undefined };
  for (let places = 0; place !== undefined; places += 1) {
    if (places === MOST_PLACES) {
      trip.note(`The history leads through more than ${MOST_PLACES} places; the rest is left out.`);
      break;
    }
    const isFirst = places === 0;
    const refusal = await refusalFor(place.channel, readers, parts.access, trip.ask);
    if (refusal !== undefined) {
      trip.note(isFirst ? SENTENCES[refusal] : HIDDEN);
      break;
    }
    const want = { count: Math.max(0, limit - messages.length), from, most: most - messages.length };
    const read: Read = isFirst
      ? await readPlace(place, want, trip, parts)
      : await readPlace(place, want, trip, parts).catch((error: unknown) => leaveOut(error, trip));
    messages = [...read.messages, ...messages];
    if (read.full || (read.next !== undefined && isEnough(messages, limit, from, most))) {
      return { messages, whole: false };
    }
    place = read.next;
  }
  return { messages, whole: true };
}

const SENTENCES = {
  bot: 'I may not read the history of this channel.',
  reader: 'Whoever asked may not read the history of this channel.',
} as const;

/** What was said here is worth an answer without what was said elsewhere. */
function leaveOut(error: unknown, trip: Trip): Read {
  if (trip.options.signal?.aborted === true) throw error;
  trip.note('What this channel goes on from could not be read: Discord did not answer.');
  return NOTHING;
}

function isEnough(messages: readonly Held[], limit: number, from: string | undefined, most: number): boolean {
  if (messages.length >= most) return true;
  const oldest = messages[0];
  return (
    messages.length >= limit &&
    (from === undefined || (oldest !== undefined && compareIds(oldest.message.id, from) <= 0))
  );
}
