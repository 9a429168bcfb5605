import type { Access } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';
import type { Members } from '../access/members.js';
import { hasGap } from '../live/gap.js';
import { idAfter, olderId } from '../snowflake.js';
import type { Held } from '../store/held.js';
import type { ChannelLog, LogPlace } from '../store/log.js';
import type { Logs } from '../store/logs.js';
import { positionOf, type Stretch } from '../store/stretch.js';
import type { Channels } from './channels.js';
import { findCommand } from './command.js';
import { fetchPage, PAGE } from './page.js';
import { type Taken, take, type Want } from './take.js';
import type { Place, Trip } from './trip.js';

export interface WalkParts {
  readonly logs: Logs;
  readonly members: Members;
  readonly access: Pick<Access, 'mayEnter'>;
  readonly channels: Channels;
}

/** What a place had to give. */
export interface Read {
  /** Oldest first. */
  readonly messages: readonly Held[];
  /** It has all that was wanted, and there may be more. */
  readonly full: boolean;
  /** Where the history goes on, further back. */
  readonly next: Place | undefined;
}

const NOTHING: Taken = { messages: [], complete: false, enough: false };
/** Beside the pages: for those that other readers fetched, and those that were lost with a session. */
const SPARE_TURNS = 20;

/**
 * Reads a place backwards: from the store, and page by page from Discord what is not there, no more than wanted.
 * @throws what discord.js threw when Discord does not answer
 */
export function readPlace(place: Place, want: Want, trip: Trip, parts: WalkParts): Promise<Read> {
  return parts.logs.reading(place.channel.id, () => readOn(place, want, trip, parts));
}

async function readOn(place: Place, want: Want, trip: Trip, parts: WalkParts): Promise<Read> {
  const { channel, upTo } = place;
  for (let turn = 0; turn < want.most / PAGE + SPARE_TURNS; turn += 1) {
    const log = logOf(channel, parts.logs);
    const stretch = log.at(upTo);
    const taken = stretch === undefined ? NOTHING : take(stretch, place, want);
    if (stretch?.to === undefined) log.needed(reachOf(stretch, taken, upTo === undefined ? want.count : 0));
    const command = await findCommand(taken.messages, channel, trip, parts);
    if (command !== undefined) return { messages: taken.messages.slice(command.at), full: false, next: command.next };
    if (taken.complete) return { messages: taken.messages, full: false, next: parentOf(place) };
    if (taken.enough) return { messages: taken.messages, full: true, next: undefined };
    const before = stretch?.from ?? (upTo === undefined ? undefined : idAfter(upTo));
    const missing = want.count - taken.messages.length;
    await extend(log, () => fetchPage(log, channel, before, missing > 0 ? Math.min(PAGE, missing) : PAGE, trip.ask));
    parts.logs.grown(log, want.most);
  }
  throw new Error(`The history of channel ${channel.id} changes faster than it can be read`);
}

/** How many of the newest messages a reader needs to find these again, or as many as it wants where there are not so many yet. */
function reachOf(stretch: Stretch | undefined, taken: Taken, wanted: number): number {
  const messages = stretch?.messages ?? [];
  const [oldest] = taken.messages;
  return Math.max(wanted, oldest === undefined ? 0 : messages.length - positionOf(messages, oldest.message.id));
}

/** One request at a time for a channel: whoever finds one under way waits for it, and looks again. */
async function extend(log: ChannelLog, fetch: () => Promise<void>): Promise<void> {
  if (log.busy !== undefined) {
    await log.busy.catch(() => undefined);
    return;
  }
  const mine = fetch().finally(() => {
    log.busy = undefined;
  });
  log.busy = mine;
  await mine;
}

/** The channel's log, in doubt where Discord has gone on without it. */
function logOf(channel: SendableChannels, logs: Logs): ChannelLog {
  const log = logs.use(placeOf(channel));
  if (log.at(undefined) !== undefined && hasGap(log, channel)) log.doubt(log.newest);
  return log;
}

function placeOf(channel: SendableChannels): LogPlace {
  return channel.isDMBased()
    ? { channelId: channel.id, guildId: null, shardId: 0 }
    : { channelId: channel.id, guildId: channel.guild.id, shardId: channel.guild.shardId };
}

/** A thread goes on from where it left its channel, the message that it hangs on included. Posts of a forum begin with themselves. */
function parentOf({ channel, upTo, downTo }: Place): Place | undefined {
  if (downTo !== undefined || !channel.isThread()) return undefined;
  const { parent } = channel;
  if (parent === null || parent.isThreadOnly()) return undefined;
  return { channel: parent, upTo: olderId(channel.id, upTo ?? channel.id), downTo: undefined };
}
