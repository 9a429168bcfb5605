import { type Clock, type Journal, type JournalDefinition, type Logger, z } from '@cinnabar/sdk';
import type { EventKind, RelayEvent } from '../events/event.js';

/** An accepted event that has not ended. */
export interface QueuedEvent {
  /** The event's number among all that this queue has accepted. */
  readonly n: number;
  /** When it was accepted, in milliseconds since the Unix epoch. */
  readonly at: number;
  readonly event: RelayEvent;
}

/** Events that are delivered together. From the first attempt on, events and key stay the same until the batch has ended. */
export interface InFlightBatch {
  readonly key: string;
  readonly entries: readonly QueuedEvent[];
  readonly attempt: number;
  readonly failures: number;
  /** Whether the agent has posted in an attempt that failed. */
  readonly posted: boolean;
  /** Earliest time of the next attempt, in milliseconds since the Unix epoch. Not kept over a restart. */
  readonly readyAt: number;
}

/** The events of one channel. */
export interface ChannelQueue {
  readonly channelId: string;
  readonly guildId: string | null;
  /** Oldest first. */
  readonly waiting: readonly QueuedEvent[];
  /** Batches that were sent and have not ended, oldest first; at most one of each agent. */
  readonly inFlight: readonly InFlightBatch[];
}

/** Number of event ids that are kept to recognise repeated events: Discord repeats events after a lost connection, at most minutes later. */
const KNOWN_AT_MOST = 2_000;

export type QueueState = ReturnType<typeof createQueueState>;

/** The complete state of the queue: the result of its records. */
export function createQueueState() {
  const channels = new Map<string, ChannelQueue>();
  const live = new Map<number, QueuedEvent>();
  const ids = new Set<string>();
  const known = new Set<string>();
  let next = 0;

  const know = (id: string) => {
    known.delete(id);
    known.add(id);
    const [oldest] = known;
    if (known.size > KNOWN_AT_MOST && oldest !== undefined) known.delete(oldest);
  };

  const leave = (entry: QueuedEvent) => {
    live.delete(entry.n);
    ids.delete(entry.event.id);
    know(entry.event.id);
  };

  const put = (channel: ChannelQueue) => {
    if (channel.waiting.length === 0 && channel.inFlight.length === 0) channels.delete(channel.channelId);
    else channels.set(channel.channelId, channel);
  };

  const take = (entry: QueuedEvent) => {
    const { channelId, guildId } = entry.event;
    const channel = channels.get(channelId) ?? { channelId, guildId, waiting: [], inFlight: [] };
    put({ ...channel, waiting: [...channel.waiting, entry] });
    live.set(entry.n, entry);
    ids.add(entry.event.id);
    next = Math.max(next, entry.n + 1);
  };

  const send = ({ key, of, attempt, failures, posted = false }: QueueRecord & { readonly is: 'sent' }) => {
    const entries = of.flatMap((n) => live.get(n) ?? []);
    const channel = channels.get(entries[0]?.event.channelId ?? '');
    if (channel === undefined) return;
    const batch = { key, entries, attempt, failures, posted, readyAt: 0 };
    const inFlight = [...channel.inFlight.filter((one) => one.key !== key), batch];
    const waiting = channel.waiting.filter(({ n }) => !of.includes(n));
    put({ ...channel, waiting, inFlight: inFlight.sort(byNumber) });
  };

  const find = (key: string) => {
    for (const channel of channels.values()) {
      const batch = channel.inFlight.find((one) => one.key === key);
      if (batch !== undefined) return { channel, batch };
    }
    return undefined;
  };

  const end = (key: string) => {
    const found = find(key);
    if (found === undefined) return;
    found.batch.entries.forEach(leave);
    put({ ...found.channel, inFlight: found.channel.inFlight.filter((one) => one !== found.batch) });
  };

  /** Replaces every event of a channel. Events that become `undefined`, and batches without events, are removed. */
  const change = (channel: ChannelQueue, of: (entry: QueuedEvent) => QueuedEvent | undefined) => {
    const mapped = (entries: readonly QueuedEvent[]) => entries.flatMap((entry) => of(entry) ?? []);
    const inFlight = channel.inFlight.map((batch) => ({ ...batch, entries: mapped(batch.entries) }));
    put({
      ...channel,
      waiting: mapped(channel.waiting),
      inFlight: inFlight.filter(({ entries }) => entries.length > 0),
    });
  };

  const drop = (numbers: readonly number[]) => {
    const gone = new Set(numbers);
    const touched = new Set(numbers.flatMap((n) => live.get(n)?.event.channelId ?? []));
    for (const channelId of touched) {
      const channel = channels.get(channelId);
      if (channel !== undefined) change(channel, (entry) => (gone.has(entry.n) ? undefined : entry));
    }
    for (const n of numbers) {
      const entry = live.get(n);
      if (entry !== undefined) leave(entry);
    }
  };

  return {
    apply(record: QueueRecord): void {
      if (record.is === 'taken') take(record);
      else if (record.is === 'sent') send(record);
      else if (record.is === 'ended') end(record.key);
      else if (record.is === 'dropped') drop(record.of);
      else record.ids.forEach(know);
    },
    /** Removes an event that could not be written, so that it may be enqueued again. */
    withdraw(n: number): void {
      const id = live.get(n)?.event.id;
      drop([n]);
      if (id !== undefined) known.delete(id);
    },
    /** Applies a failure in memory; the record of the next attempt writes it. */
    postpone(key: string, change: Pick<InFlightBatch, 'failures' | 'posted' | 'readyAt'>): void {
      const found = find(key);
      if (found === undefined) return;
      const inFlight = found.channel.inFlight.map((one) => (one === found.batch ? { ...one, ...change } : one));
      put({ ...found.channel, inFlight });
    },
    /** The shortest journal with the same result. */
    snapshot: (): readonly QueueRecord[] => [
      ...(known.size > 0 ? [{ is: 'known' as const, ids: [...known] }] : []),
      ...[...live.values()].map((entry) => ({ is: 'taken' as const, ...entry })),
      ...[...channels.values()].flatMap(({ inFlight }) =>
        inFlight.map(({ key, entries, attempt, failures, posted }) => {
          return { is: 'sent' as const, key, of: entries.map(({ n }) => n), attempt, failures, posted };
        }),
      ),
    ],
    /** The number of the next event. */
    next: () => next,
    /** Whether an event with that id is in the queue, or ended recently. */
    knows: (eventId: string) => ids.has(eventId) || known.has(eventId),
    channel: (channelId: string): ChannelQueue | undefined => channels.get(channelId),
    channels: (): Iterable<ChannelQueue> => channels.values(),
    /** Replaces each event, or removes it for `undefined`. The journal must be compacted afterwards. */
    edit(of: (event: RelayEvent) => RelayEvent | undefined): void {
      const gone: number[] = [];
      for (const channel of [...channels.values()]) {
        change(channel, (entry) => {
          const event = of(entry.event);
          if (event === undefined) gone.push(entry.n);
          const edited = { ...entry, event: event ?? entry.event };
          live.set(entry.n, edited);
          return edited;
        });
      }
      drop(gone);
    },
  };
}

const byNumber = (a: InFlightBatch, b: InFlightBatch) => (a.entries[0]?.n ?? 0) - (b.entries[0]?.n ?? 0);

/** All kinds; the compiler reports a missing one, whose events would be lost at a restart. */
const KINDS = {
  mention: 'mention',
  reply: 'reply',
  dm: 'dm',
  thread: 'thread',
  message: 'message',
  reaction: 'reaction',
  digest: 'digest',
  wake: 'wake',
} as const satisfies { readonly [K in EventKind]: K };

// Keeps unknown properties of newer versions.
const event: z.ZodType<RelayEvent> = z.looseObject({
  id: z.string(),
  kind: z.enum(KINDS),
  agent: z.string(),
  guildId: z.string().nullable(),
  channelId: z.string(),
  userId: z.string().nullable(),
  facts: z.looseObject({
    at: z.number(),
    author: z
      .object({
        id: z.string(),
        username: z.string(),
        displayName: z.string(),
        roles: z.array(z.string()),
        isBot: z.boolean(),
      })
      .nullable(),
    channel: z.object({ id: z.string(), name: z.string(), type: z.enum(['text', 'dm', 'thread', 'voice']) }),
    guild: z.object({ id: z.string(), name: z.string() }).nullable(),
    messageId: z.string().nullable(),
    content: z.string(),
    lines: z.array(z.object({ authorId: z.string(), text: z.string() })).optional(),
    chain: z.array(
      z.object({
        messageId: z.string(),
        authorId: z.string(),
        author: z.string(),
        content: z.string(),
        timestamp: z.string(),
        isBot: z.boolean(),
      }),
    ),
    attachments: z.array(z.object({ name: z.string(), url: z.string(), contentType: z.string().nullable() })),
  }),
});

const numbers = z.array(z.number().int().nonnegative());

export const queueRecord = z.discriminatedUnion('is', [
  /** An event was accepted as number `n` of this journal, at the time `at` in milliseconds since the Unix epoch. */
  z.object({ is: z.literal('taken'), n: z.number().int().nonnegative(), at: z.number(), event }),
  /** The events `of` are about to be delivered together, under `key`, for the `attempt`th time, after this many failures. */
  z.object({
    is: z.literal('sent'),
    key: z.string(),
    of: numbers,
    attempt: z.number().int(),
    failures: z.number().int(),
    /** Whether the agent has posted in an earlier attempt. */
    posted: z.boolean().optional(),
  }),
  /** The batch `key` has ended, with or without success. */
  z.object({ is: z.literal('ended'), key: z.string() }),
  /** Accepted events that will not be delivered. */
  z.object({ is: z.literal('dropped'), of: numbers }),
  /** Ids of events that have ended and must not be accepted again, oldest first. */
  z.object({ is: z.literal('known'), ids: z.array(z.string()) }),
]);

/** A change of the queue. The state is the result of all records in order. */
export type QueueRecord = z.output<typeof queueRecord>;

/** Where the queue's records are stored. */
export interface QueueStore {
  /**
   * Resolves with all records in order. Must be called first.
   * @param snapshot returns the records that lead to the current state; called for each compaction
   */
  load(snapshot: () => readonly QueueRecord[]): Promise<readonly QueueRecord[]>;
  /** Resolves when the record is on the disk. Records are written in the order of the calls. */
  append(record: QueueRecord): Promise<void>;
  /** Rewrites the journal with only the current state. */
  compact(): Promise<void>;
  /** Compacts and closes the file. Nothing can be written afterwards. */
  close(): Promise<void>;
}

/** Texts of members are removed from the disk this long after their event has ended. */
const COMPACT_AFTER_MS = 60_000;
/** A journal that grows faster is compacted by size. */
const COMPACT_AT_BYTES = 4_000_000;

interface Open {
  readonly journal: Journal<QueueRecord>;
  readonly snapshot: () => readonly QueueRecord[];
  /** Whether the file may contain lines that are no records: then it is rewritten instead of appended to. */
  isStale: boolean;
  compactAtBytes: number;
}

/**
 * The queue's journal. It is synced with every batch of records: otherwise, after a power failure, a batch that was sent could be read as not sent, and be sent
 * under another key. (A killed process loses nothing that it has written.)
 */
export function createQueueJournal(
  openJournal: (definition: JournalDefinition<QueueRecord>) => Journal<QueueRecord>,
  clock: Clock,
  log: Logger,
): QueueStore {
  let opened: Open | undefined;
  let stopTimer: (() => void) | undefined;

  const rewrite = (open: Open): Promise<void> => {
    const { journal, snapshot } = open;
    // Records that are appended from here on are not in the snapshot, and are written after it.
    open.isStale = false;
    open.compactAtBytes = Number.POSITIVE_INFINITY;
    const written = journal.rewrite(snapshot());
    written.then(
      () => {
        open.compactAtBytes = Math.max(COMPACT_AT_BYTES, 2 * journal.size);
      },
      () => {
        open.isStale = true;
      },
    );
    return written;
  };

  const isNotOpen = () => Promise.reject(new Error('the journal of the queue is not open'));

  const compact = (): Promise<void> => {
    if (opened === undefined) return isNotOpen();
    stopTimer?.();
    stopTimer = undefined;
    return rewrite(opened);
  };

  const compactLater = () => {
    stopTimer ??= clock.after(COMPACT_AFTER_MS, () => {
      compact().catch((error: unknown) => log.error('the queue of the relay could not be compacted', { error }));
    });
  };

  return {
    async load(snapshot) {
      const journal = openJournal({ schema: queueRecord, snapshot });
      const { records, damaged } = await journal.read();
      if (damaged > 0) log.warn('lines of the queue of the relay cannot be read, and were left out', { damaged });
      opened = { journal, snapshot, isStale: true, compactAtBytes: COMPACT_AT_BYTES };
      return records;
    },
    append(record) {
      if (opened === undefined) return isNotOpen();
      if (record.is === 'ended' || record.is === 'dropped') compactLater();
      // The snapshot contains the record already.
      if (opened.isStale || opened.journal.size > opened.compactAtBytes) return rewrite(opened);
      return opened.journal.append(record);
    },
    compact,
    async close() {
      if (opened === undefined) return;
      const { journal } = opened;
      try {
        await compact();
      } finally {
        opened = undefined;
        stopTimer?.();
        await journal.release();
      }
    },
  };
}
