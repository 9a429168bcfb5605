import { LRUCache } from 'lru-cache';
import type { Change } from './change-buffer.js';
import { type ChannelLog, createChannelLog, type LogPlace, type LogSize } from './channel-log.js';

export interface LogLimits {
  /** Channels that are kept up to date; the one read longest ago goes first. */
  readonly channels: number;
  /** Of all channels together. The channels read longest ago go first. */
  readonly all: LogSize;
  /** Of one channel, whatever its readers want. */
  readonly channelBytes: number;
}
export const LOG_LIMITS: LogLimits = {
  channels: 200,
  all: { messages: 100_000, bytes: 64_000_000 },
  channelBytes: 8_000_000,
};

/** The logs of the channels that have been read. Of the others nothing is kept. */
export interface Logs {
  /** For the path that every message takes. */
  peek(channelId: string): ChannelLog | undefined;
  /** The channel's log, made when there is none; counts as a use. */
  use(place: LogPlace): ChannelLog;
  /** Something happened in a channel: its log takes it in, and stays within its bounds. */
  apply(channelId: string, change: Change): void;
  /** While a task reads a channel, nothing of its log is dropped; afterwards the log is cut down to what its readers need. */
  reading<T>(channelId: string, task: () => Promise<T>): Promise<T>;
  /** A page has come: the log may hold so many messages now. */
  grown(log: ChannelLog, messages: number): void;
  all(): Iterable<ChannelLog>;
  forget(channelId: string): void;
  readonly channels: number;
  /** What all logs hold. */
  readonly size: LogSize;
}

interface Entry {
  readonly log: ChannelLog;
  /** As it is counted in the sum. */
  counted: LogSize;
}

export function createLogs(limits: LogLimits): Logs {
  let [messages, bytes] = [0, 0];
  const count = (entry: Entry, now: LogSize) => {
    messages += now.messages - entry.counted.messages;
    bytes += now.bytes - entry.counted.bytes;
    entry.counted = now;
  };
  const entries = new LRUCache<string, Entry>({
    max: limits.channels,
    dispose: (entry) => count(entry, { messages: 0, bytes: 0 }),
  });
  const readers = new Map<string, number>();

  /** Drops the channels read longest ago, but none that is being read. */
  const settle = (entry: Entry) => {
    count(entry, entry.log.size);
    if (messages <= limits.all.messages && bytes <= limits.all.bytes) return;
    for (const channelId of [...entries.rkeys()]) {
      if (messages <= limits.all.messages && bytes <= limits.all.bytes) return;
      if (!readers.has(channelId)) entries.delete(channelId);
    }
  };
  const cutDown = ({ log }: Entry) => {
    if (readers.has(log.channelId)) return;
    log.trimLive();
    log.trim({ messages: limits.all.messages, bytes: limits.channelBytes });
  };
  const entryOf = (log: ChannelLog) => {
    const entry = entries.peek(log.channelId);
    return entry?.log === log ? entry : undefined;
  };

  return {
    peek: (channelId) => entries.peek(channelId)?.log,
    use(place) {
      const known = entries.get(place.channelId);
      if (known !== undefined) return known.log;
      const log = createChannelLog(place);
      entries.set(place.channelId, { log, counted: log.size });
      return log;
    },
    apply(channelId, change) {
      const entry = entries.peek(channelId);
      if (entry === undefined) return;
      entry.log.apply(change);
      cutDown(entry);
      settle(entry);
    },
    async reading(channelId, task) {
      readers.set(channelId, (readers.get(channelId) ?? 0) + 1);
      try {
        return await task();
      } finally {
        const others = (readers.get(channelId) ?? 1) - 1;
        if (others > 0) readers.set(channelId, others);
        else readers.delete(channelId);
        const entry = entries.peek(channelId);
        if (entry !== undefined) {
          cutDown(entry);
          settle(entry);
        }
      }
    },
    grown(log, most) {
      log.trim({ messages: most, bytes: Number.POSITIVE_INFINITY });
      const entry = entryOf(log);
      if (entry !== undefined) settle(entry);
    },
    all: () => [...entries.values()].map(({ log }) => log),
    forget: (channelId) => void entries.delete(channelId),
    get channels() {
      return entries.size;
    },
    get size() {
      return { messages, bytes };
    },
  };
}
