import {
  type Access,
  type Clock,
  compareIds,
  defined,
  idAfter,
  idBefore,
  type Logger,
  OLDEST_ID,
  olderId,
  type Registrar,
  t,
} from '@cinnabar/sdk';
import type { Client, Message, MessageReaction, SendableChannels } from 'discord.js';
import {
  type Ask,
  createLookup,
  DEFAULT_BACKOFF_MAX_MS,
  type Lookup,
  refusalFor,
  withDiscordBackoff,
} from './access.js';
import { between, type ChannelLog, type LogPlace, type MessageRange, positionOf } from './channel-log.js';
import { findCommand, hiddenNote, historyRefusal, looksLikeHistory } from './history-command.js';
import { createLogs, hasGap, LOG_LIMITS, type LogLimits, type Logs, listen, watchLosses } from './logs.js';
import { isHistory, type StoredMessage, toStored } from './message.js';
import { createPins } from './pins.js';
import type { ChannelHistory, WindowOptions } from './types.js';

/** The gateway intents that keep the history up to date. */
export const HISTORY_INTENTS = [
  'Guilds',
  'GuildMessages',
  'GuildMessageReactions',
  'DirectMessages',
  'DirectMessageReactions',
  'MessageContent',
] as const;

export interface HistoryDependencies {
  readonly on: Registrar['on'];
  readonly client: Client;
  readonly access: Pick<Access, 'mayEnter'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** 200 channels, 100,000 messages and 64 MB in all, 8 MB of one channel, by default. */
  readonly limits?: LogLimits;
}

/** Channel history, read over REST once and then updated by gateway events in a separate store. */
export function createChannelHistory({
  on,
  client,
  access,
  clock,
  log,
  limits = LOG_LIMITS,
}: HistoryDependencies): ChannelHistory {
  const logs = createLogs(limits);
  const lookup = createLookup(clock, log);
  listen(on, logs);
  watchLosses(on, client, clock, logs);
  const pins = createPins(on);

  const asking = (
    { backoffMaxMs: maxMs = DEFAULT_BACKOFF_MAX_MS, signal }: Partial<WindowOptions> = {},
    onRequest?: () => void,
  ): Ask => {
    const options = { clock, log, maxMs, ...defined({ signal }) };
    return (task) =>
      withDiscordBackoff(() => {
        onRequest?.();
        return task();
      }, options);
  };

  return {
    get held() {
      return logs.size;
    },
    async window(channel, options) {
      let restCalls = 0;
      const notes = new Set<string>();
      const ask = asking(options, () => {
        restCalls += 1;
      });
      const request = { options, ask, note: (sentence: string) => void notes.add(sentence) };
      const { messages, whole } = await readWindow(channel, request, { logs, lookup, access });
      return { messages: messages.map(({ message }) => message), whole, restCalls, notes: [...notes] };
    },
    async refusalOf(message, historyRoles) {
      if (!message.channel.isSendable() || !looksLikeHistory(message.content)) return undefined;
      const ask = asking();
      const { message: said } = toStored(message);
      return historyRefusal(said, message.channel, historyRoles, ask, { lookup, access });
    },
    pinnedConfigs: (channel, names) => pins.configsOf(channel, names, lookup, asking()),
  };
}

/** Number of messages beyond its limit by which a window may grow: as many as the configuration allows. */
const MOST_BEYOND = 1_000;
/** Maximum number of places in one history. */
const MOST_PLACES = 16;

const NOTHING: Read = { messages: [], full: false, next: undefined };

interface ReadWindow {
  /** Oldest first. */
  readonly messages: readonly StoredMessage[];
  readonly whole: boolean;
}

/** Reads a channel backwards, then the targets of `.history` messages and a thread's parent, until the window is full or the history ends. */
async function readWindow(
  channel: SendableChannels,
  request: WindowRequest,
  parts: ReadDependencies,
): Promise<ReadWindow> {
  const { limit, from, readers } = request.options;
  const most = limit + MOST_BEYOND;
  let messages: readonly StoredMessage[] = [];
  let place: Place | undefined = { channel, upTo: undefined, downTo: undefined };
  for (let places = 0; place !== undefined; places += 1) {
    if (places === MOST_PLACES) {
      request.note(
        t('The history leads through more than {most} places; the rest is left out.', { most: MOST_PLACES }),
      );
      break;
    }
    const isFirst = places === 0;
    const refusal = await refusalFor(place.channel, readers, parts.access, request.ask);
    if (refusal !== undefined) {
      request.note(isFirst ? refusalNote(refusal) : hiddenNote());
      break;
    }
    const want = { count: Math.max(0, limit - messages.length), from, most: most - messages.length };
    const read: Read = isFirst
      ? await readPlace(place, want, request, parts)
      : await readPlace(place, want, request, parts).catch((error: unknown) => leaveOut(error, request));
    messages = [...read.messages, ...messages];
    if (read.full || (read.next !== undefined && isEnough(messages, limit, from, most))) {
      return { messages, whole: false };
    }
    place = read.next;
  }
  return { messages, whole: true };
}

function refusalNote(refusal: 'bot' | 'reader'): string {
  return refusal === 'bot'
    ? t('I may not read the history of this channel.')
    : t('The member who asked may not read the history of this channel.');
}

/** Replaces a place that cannot be read by nothing, because an answer with only this channel's messages is better than none. */
function leaveOut(error: unknown, request: WindowRequest): Read {
  if (request.options.signal?.aborted === true) throw error;
  request.note(t('The messages that this channel continues could not be read: Discord did not answer.'));
  return NOTHING;
}

function isEnough(messages: readonly StoredMessage[], limit: number, from: string | undefined, most: number): boolean {
  if (messages.length >= most) return true;
  const oldest = messages[0];
  return (
    messages.length >= limit &&
    (from === undefined || (oldest !== undefined && compareIds(oldest.message.id, from) <= 0))
  );
}

interface ReadDependencies {
  readonly logs: Logs;
  readonly lookup: Lookup;
  readonly access: Pick<Access, 'mayEnter'>;
}

/** The messages of one place. */
interface Read {
  /** Oldest first. */
  readonly messages: readonly StoredMessage[];
  /** Whether it contains everything that was wanted although there may be more. */
  readonly full: boolean;
  /** The place where the history continues further back. */
  readonly next: Place | undefined;
}

const NOTHING_READ: RangePart = { messages: [], complete: false, enough: false };
/** Extra requests: for pages that other readers fetched, and those lost with a session. */
const SPARE_TURNS = 20;

/**
 * Reads a place backwards: from the store, and missing messages page by page from Discord, no more than wanted.
 * @throws the error of discord.js when Discord does not answer
 */
function readPlace(place: Place, want: Want, request: WindowRequest, parts: ReadDependencies): Promise<Read> {
  return parts.logs.reading(place.channel.id, () => readOn(place, want, request, parts));
}

async function readOn(place: Place, want: Want, request: WindowRequest, parts: ReadDependencies): Promise<Read> {
  const { channel, upTo } = place;
  for (let turn = 0; turn < want.most / PAGE + SPARE_TURNS; turn += 1) {
    const log = logOf(channel, parts.logs);
    const range = log.at(upTo);
    const taken = range === undefined ? NOTHING_READ : take(range, place, want);
    if (range?.to === undefined) log.needed(reachOf(range, taken, upTo === undefined ? want.count : 0));
    const command = await findCommand(taken.messages, channel, request, parts);
    if (command !== undefined) return { messages: taken.messages.slice(command.at), full: false, next: command.next };
    if (taken.complete) return { messages: taken.messages, full: false, next: parentOf(place) };
    if (taken.enough) return { messages: taken.messages, full: true, next: undefined };
    const before = range?.from ?? (upTo === undefined ? undefined : idAfter(upTo));
    const missing = want.count - taken.messages.length;
    await extend(log, () => fetchPage(log, channel, before, missing > 0 ? Math.min(PAGE, missing) : PAGE, request.ask));
    parts.logs.grown(log, want.most);
  }
  throw new Error(`The history of channel ${channel.id} changes faster than it can be read`);
}

/** The number of newest messages that the log must keep for this reader: up to the oldest one read, and at least as many as wanted. */
function reachOf(range: MessageRange | undefined, taken: RangePart, wanted: number): number {
  const messages = range?.messages ?? [];
  const [oldest] = taken.messages;
  return Math.max(wanted, oldest === undefined ? 0 : messages.length - positionOf(messages, oldest.message.id));
}

/** The pending request of a channel. */
const inFlight = new WeakMap<ChannelLog, Promise<void>>();

/** Makes one request at a time for a channel. Other readers wait for it, and check again. */
async function extend(log: ChannelLog, fetch: () => Promise<void>): Promise<void> {
  const other = inFlight.get(log);
  if (other !== undefined) return other.catch(() => undefined);
  const mine = fetch().finally(() => inFlight.delete(log));
  inFlight.set(log, mine);
  await mine;
}

/** The channel's log; it is marked as unsure when it has missed messages. */
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

/** The part of the parent channel before a thread, including the starter message. Forum posts have no such part. */
function parentOf({ channel, upTo, downTo }: Place): Place | undefined {
  if (downTo !== undefined || !channel.isThread()) return undefined;
  const { parent } = channel;
  if (parent === null || parent.isThreadOnly()) return undefined;
  return { channel: parent, upTo: olderId(channel.id, upTo ?? channel.id), downTo: undefined };
}

/** A part of a channel to read, backwards. */
export interface Place {
  readonly channel: SendableChannels;
  /** The newest message of interest; `undefined` is now. */
  readonly upTo: string | undefined;
  /** The oldest; `undefined`: as far back as there is. */
  readonly downTo: string | undefined;
}

/** One reading of a window. */
export interface WindowRequest {
  readonly options: WindowOptions;
  /** Makes a request to Discord, and counts it. */
  readonly ask: Ask;
  /** Records once what could not be included. */
  note(sentence: string): void;
}

/** The number of messages that a reader wants. */
interface Want {
  readonly count: number;
  /** Messages from this id on are wanted, too, … */
  readonly from: string | undefined;
  /** … but never more than this. */
  readonly most: number;
}

/** The part of a place that a range contains. */
interface RangePart {
  /** Oldest first. */
  readonly messages: readonly StoredMessage[];
  /** Whether it begins where the place begins. */
  readonly complete: boolean;
  readonly enough: boolean;
}

/** The newest messages of a place, as many as wanted and known. */
function take(
  range: MessageRange,
  { upTo, downTo = OLDEST_ID }: { readonly upTo: string | undefined; readonly downTo: string | undefined },
  { count, from, most }: Want,
): RangePart {
  const all = between(range.messages, downTo, upTo);
  const byCount = Math.max(0, all.length - count);
  const byId = from === undefined ? byCount : Math.min(byCount, positionOf(all, from));
  const start = Math.max(byId, all.length - most, 0);
  const reachesFrom = from === undefined || compareIds(range.from, from) <= 0 || all.length >= most;
  return {
    messages: all.slice(start),
    complete: start === 0 && compareIds(range.from, downTo) <= 0,
    enough: all.length >= count && reachesFrom,
  };
}

/** Discord's own limit. */
const PAGE = 100;
/** Limit, because frequent reactions to a message may contradict page after page. */
const MOST_ATTEMPTS = 3;

/** Fetches the `limit` messages before `before` (the newest when it is `undefined`) into the log, together with changes in the meantime. */
async function fetchPage(
  log: ChannelLog,
  channel: SendableChannels,
  before: string | undefined,
  limit: number,
  ask: Ask,
): Promise<void> {
  if (before === undefined) log.noteNewest(channel.lastMessageId ?? OLDEST_ID);
  for (let attempt = 1; ; attempt += 1) {
    const { epoch } = log;
    const buffer = log.openBuffer();
    try {
      const fetched = await ask(() =>
        channel.messages.fetch({ limit, cache: false, ...(before === undefined ? {} : { before }) }),
      );
      const listed = [...fetched.values()].sort((a, b) => compareIds(a.id, b.id));
      const page = listed.filter(isHistory).map((message) => toStored(message, reactionsOn(message)));
      if (log.epoch !== epoch || (buffer.contradicts(page) && attempt < MOST_ATTEMPTS)) continue;
      const from = listed.length < limit ? OLDEST_ID : (listed[0]?.id ?? OLDEST_ID);
      const to = before === undefined ? undefined : idBefore(before);
      log.add({ from, to, messages: ordered(buffer.apply(page), from, to), trusted: true });
      return;
    } finally {
      log.closeBuffer();
    }
  }
}

/**
 * Discord omits the reactions of a message without any, and discord.js then keeps those of its cached copy, which may be out of date. Such reactions are
 * recognised because they are the same object.
 */
function reactionsOn(message: Message): Iterable<MessageReaction> {
  const cached = message.channel.messages.cache.get(message.id);
  return cached?.reactions === message.reactions ? [] : message.reactions.cache.values();
}

function ordered(messages: readonly StoredMessage[], from: string, to: string | undefined): readonly StoredMessage[] {
  return messages
    .filter(({ message }) => compareIds(from, message.id) <= 0 && (to === undefined || compareIds(message.id, to) <= 0))
    .sort((a, b) => compareIds(a.message.id, b.message.id));
}
