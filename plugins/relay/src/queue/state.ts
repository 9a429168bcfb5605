import { type Clock, type Journal, type JournalDefinition, type Logger, z } from '@cinnabar/sdk';
import type { EventKind, RelayEvent } from '../events/event.js';

/** An accepted event that has not ended. */
export interface QueuedEvent {
  /** Its number among all that this queue has taken. */
  readonly n: number;
  /** When it was taken, in milliseconds since the Unix epoch. */
  readonly at: number;
  readonly event: RelayEvent;
}

/** Events that are delivered together, from the first attempt on: always the same events, under the same key, until they have ended. */
export interface InFlightBatch {
  readonly key: string;
  readonly entries: readonly QueuedEvent[];
  readonly attempt: number;
  readonly failures: number;
  /** Whether the agent has posted something at an attempt that failed. */
  readonly posted: boolean;
  /** Not to be tried again before this, in milliseconds since the Unix epoch. Lost by a restart. */
  readonly readyAt: number;
}

/** The events of one channel. */
export interface ChannelQueue {
  readonly channelId: string;
  readonly guildId: string | null;
  /** Oldest first. */
  readonly waiting: readonly QueuedEvent[];
  /** Sent at least once, and not ended: at most one of each agent. Oldest first. */
  readonly inFlight: readonly InFlightBatch[];
}

/** Discord repeats events after a lost connection, minutes later at most; more need not be known. */
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

  /** Maps every event of a channel; those that become `undefined` are removed, and batches that become empty. */
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
    /** Removes an event that could not be written: it may be enqueued again. */
    withdraw(n: number): void {
      const id = live.get(n)?.event.id;
      drop([n]);
      if (id !== undefined) known.delete(id);
    },
    /** Notes a failure, which the record of the next attempt will write. */
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
    /** The number that the next event gets. */
    next: () => next,
    /** Whether an event of that id is here, or was lately. */
    knows: (eventId: string) => ids.has(eventId) || known.has(eventId),
    channel: (channelId: string): ChannelQueue | undefined => channels.get(channelId),
    channels: (): Iterable<ChannelQueue> => channels.values(),
    /** Changes what is stored of each event, or with `undefined` removes it. The journal must be compacted after. */
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

/** All kinds, as the compiler checks: an event of a kind that is missing here would be lost by a restart. */
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

// Loose, so that fields of a newer version are not lost.
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
  /** An event was accepted, as the `n`th of this journal. `at` is when, in milliseconds since the Unix epoch. */
  z.object({ is: z.literal('taken'), n: z.number().int().nonnegative(), at: z.number(), event }),
  /** The events `of` are about to be delivered together, under `key`, for the `attempt`th time, after so many failures. */
  z.object({
    is: z.literal('sent'),
    key: z.string(),
    of: numbers,
    attempt: z.number().int(),
    failures: z.number().int(),
    /** Whether the agent has posted something at an earlier attempt. */
    posted: z.boolean().optional(),
  }),
  /** The batch `key` has ended, with or without success. */
  z.object({ is: z.literal('ended'), key: z.string() }),
  /** Accepted, but not to be delivered any more. */
  z.object({ is: z.literal('dropped'), of: numbers }),
  /** Ids of events that have ended and must not be accepted again, oldest first. */
  z.object({ is: z.literal('known'), ids: z.array(z.string()) }),
]);

/** A change of the queue, in the order in which they happened: the state is the result of its records. */
export type QueueRecord = z.output<typeof queueRecord>;

/** Where the queue's records are stored. */
export interface QueueStore {
  /**
   * Everything that was written, in its order. To be called before anything else.
   * @param snapshot the records that give the state at the time of the call: asked for at each compaction
   */
  load(snapshot: () => readonly QueueRecord[]): Promise<readonly QueueRecord[]>;
  /** Resolves when the record is on the disk. In the order of the calls. */
  append(record: QueueRecord): Promise<void>;
  /** Writes the journal anew, so that nothing but what the queue holds is left on the disk. */
  compact(): Promise<void>;
  /** Compacts, and closes the file. Nothing can be written after. */
  close(): Promise<void>;
}

/** Members' words are removed from the disk this long after their event has ended. */
const COMPACT_AFTER_MS = 60_000;
/** A journal that grows faster than that is compacted by size. */
const COMPACT_AT_BYTES = 4_000_000;

interface Open {
  readonly journal: Journal<QueueRecord>;
  readonly snapshot: () => readonly QueueRecord[];
  /** Whether the file may hold lines that are no records: then nothing is added to it before it is written anew. */
  isStale: boolean;
  compactAtBytes: number;
}

/**
 * The queue's journal. It is synced with every batch of records, because of power cuts: otherwise a batch that was sent could come back as unsent, and be sent
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
    // From here on what is appended is not part of the snapshot, and comes after it.
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
      // The record is in the snapshot already.
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
