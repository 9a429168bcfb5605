import { z } from '@cinnabar/sdk';
import type { EventKind, RelayEvent } from '../types.js';

/** An event that was taken and is not done. */
export interface Entry {
  /** Its place among all that this queue has taken. */
  readonly n: number;
  /** When it was taken, in milliseconds since the Unix epoch. */
  readonly at: number;
  readonly event: RelayEvent;
}

/** Entries that an agent is told of together, from the first attempt on: the same ones, under the same key, until they are done. */
export interface Parcel {
  readonly key: string;
  readonly entries: readonly Entry[];
  readonly attempt: number;
  readonly failures: number;
  /** Whether the agent has posted something at an attempt that failed. */
  readonly posted: boolean;
  /** Not to be tried again before this, in milliseconds since the Unix epoch. A restart does not know it any more. */
  readonly readyAt: number;
}

/** What a channel has to be told of. */
export interface Line {
  readonly channelId: string;
  readonly guildId: string | null;
  /** Oldest first. */
  readonly waiting: readonly Entry[];
  /** Told of at least once, and not done: at most one of each agent. Oldest first. */
  readonly parcels: readonly Parcel[];
}

/** Everything that the queue holds, as its records add up. */
export interface Book {
  apply(record: QueueRecord): void;
  /** Takes an entry back that could not be written down: the event may be offered again. */
  withdraw(n: number): void;
  /** Notes a failure, which the record of the next attempt will write down. */
  postpone(key: string, change: Pick<Parcel, 'failures' | 'posted' | 'readyAt'>): void;
  /** The shortest journal that adds up to the same. */
  snapshot(): readonly QueueRecord[];
  /** The place that the next entry gets. */
  next(): number;
  /** Whether an event of that id is here, or was lately. */
  knows(eventId: string): boolean;
  line(channelId: string): Line | undefined;
  lines(): Iterable<Line>;
  /** Changes what is kept of each event, or with `undefined` takes it out. The journal must be compacted after. */
  edit(change: (event: RelayEvent) => RelayEvent | undefined): void;
}

/** Discord repeats events after a lost connection, minutes later at most; more need not be known. */
const KNOWN_AT_MOST = 2_000;

export function createBook(): Book {
  const lines = new Map<string, Line>();
  const live = new Map<number, Entry>();
  const ids = new Set<string>();
  const known = new Set<string>();
  let next = 0;

  const know = (id: string) => {
    known.delete(id);
    known.add(id);
    const [oldest] = known;
    if (known.size > KNOWN_AT_MOST && oldest !== undefined) known.delete(oldest);
  };

  const leave = (entry: Entry) => {
    live.delete(entry.n);
    ids.delete(entry.event.id);
    know(entry.event.id);
  };

  const put = (line: Line) => {
    if (line.waiting.length === 0 && line.parcels.length === 0) lines.delete(line.channelId);
    else lines.set(line.channelId, line);
  };

  const take = (entry: Entry) => {
    const { channelId, guildId } = entry.event;
    const line = lines.get(channelId) ?? { channelId, guildId, waiting: [], parcels: [] };
    put({ ...line, waiting: [...line.waiting, entry] });
    live.set(entry.n, entry);
    ids.add(entry.event.id);
    next = Math.max(next, entry.n + 1);
  };

  const send = ({ key, of, attempt, failures, posted = false }: QueueRecord & { readonly is: 'sent' }) => {
    const entries = of.flatMap((n) => live.get(n) ?? []);
    const line = lines.get(entries[0]?.event.channelId ?? '');
    if (line === undefined) return;
    const parcel = { key, entries, attempt, failures, posted, readyAt: 0 };
    const parcels = [...line.parcels.filter((one) => one.key !== key), parcel];
    const waiting = line.waiting.filter(({ n }) => !of.includes(n));
    put({ ...line, waiting, parcels: parcels.sort(byPlace) });
  };

  const find = (key: string) => {
    for (const line of lines.values()) {
      const parcel = line.parcels.find((one) => one.key === key);
      if (parcel !== undefined) return { line, parcel };
    }
    return undefined;
  };

  const end = (key: string) => {
    const found = find(key);
    if (found === undefined) return;
    found.parcel.entries.forEach(leave);
    put({ ...found.line, parcels: found.line.parcels.filter((one) => one !== found.parcel) });
  };

  /** Maps every entry of a line; those that become `undefined` are taken out, and parcels that become empty. */
  const change = (line: Line, of: (entry: Entry) => Entry | undefined) => {
    const kept = (entries: readonly Entry[]) => entries.flatMap((entry) => of(entry) ?? []);
    const parcels = line.parcels.map((parcel) => ({ ...parcel, entries: kept(parcel.entries) }));
    put({ ...line, waiting: kept(line.waiting), parcels: parcels.filter(({ entries }) => entries.length > 0) });
  };

  const drop = (numbers: readonly number[]) => {
    const gone = new Set(numbers);
    const touched = new Set(numbers.flatMap((n) => live.get(n)?.event.channelId ?? []));
    for (const channelId of touched) {
      const line = lines.get(channelId);
      if (line !== undefined) change(line, (entry) => (gone.has(entry.n) ? undefined : entry));
    }
    for (const n of numbers) {
      const entry = live.get(n);
      if (entry !== undefined) leave(entry);
    }
  };

  return {
    apply(record) {
      switch (record.is) {
        case 'taken':
          return take(record);
        case 'sent':
          return send(record);
        case 'ended':
          return end(record.key);
        case 'dropped':
          return drop(record.of);
        case 'known':
          return record.ids.forEach(know);
      }
    },
    withdraw(n) {
      const id = live.get(n)?.event.id;
      drop([n]);
      if (id !== undefined) known.delete(id);
    },
    postpone(key, change) {
      const found = find(key);
      if (found === undefined) return;
      const parcels = found.line.parcels.map((one) => (one === found.parcel ? { ...one, ...change } : one));
      put({ ...found.line, parcels });
    },
    snapshot: () => [
      ...(known.size > 0 ? [{ is: 'known' as const, ids: [...known] }] : []),
      ...[...live.values()].map((entry) => ({ is: 'taken' as const, ...entry })),
      ...[...lines.values()].flatMap(({ parcels }) =>
        parcels.map(({ key, entries, attempt, failures, posted }) => {
          return { is: 'sent' as const, key, of: entries.map(({ n }) => n), attempt, failures, posted };
        }),
      ),
    ],
    next: () => next,
    knows: (id) => ids.has(id) || known.has(id),
    line: (channelId) => lines.get(channelId),
    lines: () => lines.values(),
    edit(of) {
      const gone: number[] = [];
      for (const line of [...lines.values()]) {
        change(line, (entry) => {
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

const byPlace = (a: Parcel, b: Parcel) => (a.entries[0]?.n ?? 0) - (b.entries[0]?.n ?? 0);

/** All of them, as the compiler sees to: an event of a kind that is missing here would be lost by a restart. */
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

// Loose, so that what an event says besides is not lost either.
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
  /** An event was taken, as the `n`th of this journal. `at` is when, in milliseconds since the Unix epoch. */
  z.object({ is: z.literal('taken'), n: z.number().int().nonnegative(), at: z.number(), event }),
  /** The events `of` are about to be told of together, under `key`, for the `attempt`th time, after so many failures. */
  z.object({
    is: z.literal('sent'),
    key: z.string(),
    of: numbers,
    attempt: z.number().int(),
    failures: z.number().int(),
    /** Whether the agent has posted something at an earlier attempt. */
    posted: z.boolean().optional(),
  }),
  /** What was sent under `key` has ended, well or not. */
  z.object({ is: z.literal('ended'), key: z.string() }),
  /** Taken, and not to be told of any more. */
  z.object({ is: z.literal('dropped'), of: numbers }),
  /** Ids of events that were here and are not to be taken again, oldest first. */
  z.object({ is: z.literal('known'), ids: z.array(z.string()) }),
]);

/** What happened to the queue, in the order in which it happened: the queue is what its records add up to. */
export type QueueRecord = z.output<typeof queueRecord>;
