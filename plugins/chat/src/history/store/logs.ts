import { LRUCache } from 'lru-cache';
import { type ChannelLog, createChannelLog, type LogPlace } from './log.js';

export interface LogLimits {
  /** Channels that are kept up to date; the one read longest ago goes first. */
  readonly channels: number;
  /** Messages of all channels together. */
  readonly messages: number;
}
export const LOG_LIMITS: LogLimits = { channels: 200, messages: 100_000 };

/** The logs of the channels that have been read. Of the others nothing is kept. */
export interface Logs {
  /** For the path that every message takes. */
  peek(channelId: string): ChannelLog | undefined;
  /** The channel's log, made when there is none; counts as a use. */
  use(place: LogPlace): ChannelLog;
  /** Tells that a log has grown. */
  grown(log: ChannelLog, capacity: number): void;
  all(): Iterable<ChannelLog>;
  forget(channelId: string): void;
  readonly channels: number;
  readonly messages: number;
}

export function createLogs(limits: LogLimits): Logs {
  const logs = new LRUCache<string, ChannelLog>({
    max: limits.channels,
    maxSize: limits.messages,
    sizeCalculation: ({ size }) => size + 1,
  });
  return {
    peek: (channelId) => logs.peek(channelId),
    use(place) {
      const known = logs.get(place.channelId);
      if (known !== undefined) return known;
      const log = createChannelLog(place);
      logs.set(place.channelId, log);
      return log;
    },
    grown(log, capacity) {
      log.trim(capacity);
      // Setting it again takes the new size into account.
      if (logs.peek(log.channelId) === log) logs.set(log.channelId, log, { noDisposeOnSet: true });
    },
    all: () => logs.values(),
    forget: (channelId) => void logs.delete(channelId),
    get channels() {
      return logs.size;
    },
    get messages() {
      return logs.calculatedSize - logs.size;
    },
  };
}
