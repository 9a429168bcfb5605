import { type Clock, compareIds, OLDEST_ID, type Registrar } from '@cinnabar/sdk';
import type { Client, MessageReaction, PartialMessageReaction, PartialUser, SendableChannels, User } from 'discord.js';
import { LRUCache } from 'lru-cache';
import { mayBotRead } from './access.js';
import { type Change, type ChannelLog, createChannelLog, type LogPlace, type LogSize } from './channel-log.js';
import { emojiKey, isHistory, toStored } from './message.js';

export interface LogLimits {
  /** Number of channels that are kept up to date; the least recently read is dropped first. */
  readonly channels: number;
  /** Limit of all channels together. The least recently read are dropped first. */
  readonly all: LogSize;
  /** Limit of one channel, whatever its readers need. */
  readonly channelBytes: number;
}
export const LOG_LIMITS: LogLimits = {
  channels: 200,
  all: { messages: 100_000, bytes: 64_000_000 },
  channelBytes: 8_000_000,
};

export type Logs = ReturnType<typeof createLogs>;

interface Entry {
  readonly log: ChannelLog;
  /** Its size as part of the total. */
  counted: LogSize;
}

/** The logs of the channels that were read. Other channels have none. */
export function createLogs(limits: LogLimits) {
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

  /** Drops the logs of the least recently read channels, but none that is being read. */
  const dropOldest = (entry: Entry) => {
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
    /** Without counting as a use; called for every message. */
    peek: (channelId: string) => entries.peek(channelId)?.log,
    /** The channel's log, which is created if necessary; counts as a use. */
    use(place: LogPlace): ChannelLog {
      const known = entries.get(place.channelId);
      if (known !== undefined) return known.log;
      const log = createChannelLog(place);
      entries.set(place.channelId, { log, counted: log.size });
      return log;
    },
    apply(channelId: string, change: Change): void {
      const entry = entries.peek(channelId);
      if (entry === undefined) return;
      entry.log.apply(change);
      cutDown(entry);
      dropOldest(entry);
    },
    /** Runs a task that reads a channel. Its log is not trimmed meanwhile, but afterwards, to what readers need. */
    async reading<T>(channelId: string, task: () => Promise<T>): Promise<T> {
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
          dropOldest(entry);
        }
      }
    },
    /** To be called after a page was added: limits the log to this many messages. */
    grown(log: ChannelLog, most: number): void {
      log.trim({ messages: most, bytes: Number.POSITIVE_INFINITY });
      const entry = entryOf(log);
      if (entry !== undefined) dropOldest(entry);
    },
    all: () => [...entries.values()].map(({ log }) => log),
    forget: (channelId: string) => void entries.delete(channelId),
    /** The totals of all logs. */
    get size(): LogSize {
      return { messages, bytes };
    },
  };
}

/**
 * Keeps the logs up to date with gateway events. A message in a channel without a log costs one look-up. Uses only the events' own data, not discord.js's
 * cache.
 */
export function listen(on: Registrar['on'], logs: Logs): void {
  // Also events of members whom the bot ignores: their messages are part of the conversation.
  const all = { hearsIgnored: true } as const;
  const tell = (channelId: string, change: Change) => logs.apply(channelId, change);

  on(
    'messageCreate',
    (message) => {
      const log = logs.peek(message.channelId);
      if (log === undefined) return;
      if (isHistory(message)) tell(message.channelId, { kind: 'created', id: message.id, held: toStored(message) });
      else log.noteNewest(message.id);
    },
    all,
  );
  on('messageUpdate', (_old, message) => {
    const log = logs.peek(message.channelId);
    // A partial message is a change that the history does not show, not an edit of its text.
    if (log === undefined || message.partial || !isHistory(message)) return;
    tell(message.channelId, { kind: 'updated', id: message.id, held: toStored(message) });
  });
  on('messageDelete', ({ id, channelId }) => tell(channelId, { kind: 'deleted', id }));
  on('messageDeleteBulk', (messages, channel) => {
    for (const id of messages.keys()) tell(channel.id, { kind: 'deleted', id });
  });

  const onReaction = (reaction: MessageReaction | PartialMessageReaction, user: User | PartialUser, by: 1 | -1) => {
    const { id, channelId } = reaction.message;
    if (logs.peek(channelId) === undefined) return;
    const mine = user.id === user.client.user?.id;
    tell(channelId, { kind: 'reaction', id, key: emojiKey(reaction), name: reaction.emoji.name ?? '', by, mine });
  };
  on('messageReactionAdd', (reaction, user) => onReaction(reaction, user, 1), all);
  on('messageReactionRemove', (reaction, user) => onReaction(reaction, user, -1));
  on('messageReactionRemoveAll', ({ id, channelId }) => tell(channelId, { kind: 'unreacted', id }));
  on('messageReactionRemoveEmoji', (reaction) => {
    const { id, channelId } = reaction.message;
    tell(channelId, { kind: 'unreacted', id, key: emojiKey(reaction) });
  });
}

/** After a longer loss, an unchanged part proves nothing about the rest. */
const LONGEST_DOUBT_MS = 10 * 60_000;

/**
 * Detects missed events: after a gateway session that could not be resumed, of an unavailable guild, and in channels that the bot could not see. A lost session
 * marks logs as unsure: the next read fetches the missed messages, and confirms the log if they match.
 */
export function watchLosses(on: Registrar['on'], client: Client, clock: Clock, logs: Logs): void {
  /** Shards without a connection: since when, and the newest messages of their channels before. */
  const down = new Map<number, { readonly since: number; readonly newest: ReadonlyMap<string, string> }>();
  const ofShard = (shardId: number) => [...logs.all()].filter((log) => log.shardId === shardId);
  const ofGuild = (guildId: string) => [...logs.all()].filter((log) => log.guildId === guildId);

  on('shardReconnecting', (shardId) => {
    if (down.has(shardId)) return;
    const newest = new Map(ofShard(shardId).map((log) => [log.channelId, log.newest]));
    down.set(shardId, { since: clock.now(), newest });
  });
  on('shardResume', (shardId) => down.delete(shardId));
  on('shardReady', (shardId) => {
    const loss = down.get(shardId);
    down.delete(shardId);
    for (const log of ofShard(shardId)) {
      const lastSure = loss?.newest.get(log.channelId);
      if (loss === undefined || lastSure === undefined || clock.now() - loss.since > LONGEST_DOUBT_MS) {
        logs.forget(log.channelId);
      } else log.doubt(lastSure);
    }
  });

  on('guildUnavailable', ({ id }) => {
    for (const log of ofGuild(id)) log.doubt(log.newest);
  });
  on('guildDelete', ({ id }) => {
    for (const log of ofGuild(id)) logs.forget(log.channelId);
  });
  on('channelDelete', ({ id }) => logs.forget(id));
  on('threadDelete', ({ id }) => logs.forget(id));

  // There are no events without access, so the log is deleted.
  const forgetHidden = (hidden: readonly ChannelLog[]) => {
    for (const { channelId } of hidden) {
      const channel = client.channels.cache.get(channelId);
      if (channel === undefined || !channel.isSendable() || !mayBotRead(channel)) logs.forget(channelId);
    }
  };
  on('channelUpdate', (_old, channel) => {
    const log = logs.peek(channel.id);
    if (log === undefined) return;
    forgetHidden([log]);
    // No event announces that a channel became invisible, but the event when it is visible again contains its newest message.
    if (channel.isSendable() && hasGap(log, channel)) log.doubt(log.newest);
  });
  on('roleUpdate', (_old, { guild }) => forgetHidden(ofGuild(guild.id)));
  on('roleDelete', ({ guild }) => forgetHidden(ofGuild(guild.id)));
  on('guildMemberUpdate', (_old, { id, guild }) => {
    if (id === client.user?.id) forgetHidden(ofGuild(guild.id));
  });
  on('threadMembersUpdate', (_added, removed, { id, guild }) => {
    if (guild.members.me !== null && removed.has(guild.members.me.id)) logs.forget(id);
  });
}

/**
 * Whether a channel contains messages that the log does not know, from a time when the plugin was disabled or suspended, or the channel was invisible. Own
 * messages do not count, because discord.js has them before their event arrives.
 */
export function hasGap(log: ChannelLog, channel: SendableChannels): boolean {
  const isNews = (id: string) => compareIds(id, log.newest) > 0;
  if (isNews(channel.lastMessageId ?? OLDEST_ID)) return true;
  const botId = channel.client.user.id;
  return channel.messages.cache.some(({ id, partial, author }) => isNews(id) && !partial && author.id !== botId);
}
