import {
  type Clock,
  type Journal,
  type Journals,
  type KeyedMutex,
  type RecordedUse,
  toolSource,
  z,
} from '@cinnabar/sdk';

const HOUR_MS = 3_600_000;
/** Ids come from Discord, but are validated before they become part of a path. */
const ID = /^\d{1,20}$/;

/** The journals of one channel: `{botId}/{channelId}`. */
function channelPath(botId: string, channelId: string): readonly string[] {
  for (const id of [botId, channelId]) if (!ID.test(id)) throw new TypeError(`"${id}" is not an id`);
  return [botId, channelId];
}

/** The name of the journal for calls that end at this time: `2026-11-21-22`, in UTC. */
export function hourOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 13).replace('T', '-');
}

/** The first moment after the hour of `timeMs`. */
function endOfHour(timeMs: number): number {
  return (Math.floor(timeMs / HOUR_MS) + 1) * HOUR_MS;
}

const HOUR = /^\d{4}-\d{2}-\d{2}-\d{2}$/;

/** One line of a journal of calls. */
const recordedUse: z.ZodType<RecordedUse> = z.object({
  call: z.object({
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
    messageId: z.string(),
    userId: z.string().exactOptional(),
    identity: z.string().exactOptional(),
  }),
  result: z.object({
    callId: z.string(),
    output: z.unknown(),
    error: z.string().exactOptional(),
    sources: z.array(toolSource).exactOptional(),
    audience: z.literal('requester').exactOptional(),
  }),
  timestamp: z.string(),
});

/** Where the calls were requested. */
export interface CallPlace {
  readonly guildId: string | null;
  readonly channelId: string;
}

interface OpenJournal {
  readonly hour: string;
  readonly journal: Journal<RecordedUse>;
}

/** The journals of all channels, one for each hour. The caller serialises writes to one channel. */
export interface HistoryJournals {
  append(place: CallPlace, use: RecordedUse): Promise<void>;
  /** Names of a channel's journals, oldest first. */
  hours(channelId: string): Promise<readonly string[]>;
  read(
    channelId: string,
    hour: string,
  ): Promise<{ readonly records: readonly RecordedUse[]; readonly damaged: number }>;
  /** Replaces all records by the result of `change`, and removes old copies of rewritten journals. */
  change(channelId: string, hour: string, change: (use: RecordedUse) => RecordedUse | undefined): Promise<void>;
  /** All hours of all channels. */
  list(): Promise<readonly RecordedHour[]>;
  erase(channelId: string, hour: string): Promise<void>;
  /** Closes a channel's journal. */
  release(channelId: string): Promise<void>;
  close(): Promise<void>;
}

interface RecordedHour {
  readonly channelId: string;
  readonly hour: string;
  readonly bytes: number;
  /** Whether this host serves the channel. */
  readonly isOwn: boolean;
}

/** Limit on open files: a busy bot has more channels than that. */
const MOST_OPEN = 64;

interface JournalDependencies {
  readonly journals: Journals;
  /** The bot's user id. */
  botId(): string;
  readonly clock: Pick<Clock, 'now'>;
  /** Runs a task later, unless the plugin stops before. */
  after(delayMs: number, task: () => unknown): unknown;
}

export function createHistoryJournals({ journals, botId, clock, after }: JournalDependencies): HistoryJournals {
  const opened = new Map<string, OpenJournal>();
  let boundaryAt = 0;
  const pathOf = (channelId: string) => channelPath(botId(), channelId);
  const open = (channelId: string, hour: string, more: { readonly guildId?: string | null } = {}) =>
    journals.open([...pathOf(channelId), hour], { schema: recordedUse, ...more });

  const release = async (channelId: string) => {
    const one = opened.get(channelId);
    opened.delete(channelId);
    await one?.journal.release();
  };

  const closePast = async () => {
    const now = hourOf(clock.now());
    for (const [channelId, { hour }] of opened) if (hour !== now) await release(channelId);
  };

  const watchBoundary = () => {
    const end = endOfHour(clock.now());
    if (boundaryAt === end) return;
    boundaryAt = end;
    after(end - clock.now(), closePast);
  };

  const journalFor = async ({ channelId, guildId }: CallPlace, hour: string): Promise<Journal<RecordedUse>> => {
    const known = opened.get(channelId);
    opened.delete(channelId);
    if (known?.hour === hour) {
      opened.set(channelId, known);
      return known.journal;
    }
    await known?.journal.release();
    const journal = open(channelId, hour, { guildId });
    opened.set(channelId, { hour, journal });
    watchBoundary();
    const [oldest] = opened.keys();
    if (opened.size > MOST_OPEN && oldest !== undefined) await release(oldest);
    return journal;
  };

  /** Opens a journal for one task. */
  const within = async <T>(channelId: string, hour: string, task: (journal: Journal<RecordedUse>) => Promise<T>) => {
    const journal = open(channelId, hour);
    try {
      return await task(journal);
    } finally {
      await journal.release();
    }
  };

  const list = async (below: readonly string[]) => {
    const found = await journals.list(below);
    return found.flatMap(({ path: [, channelId = '', hour = '', ...others], bytes, isOwn }) =>
      others.length === 0 && ID.test(channelId) && HOUR.test(hour) ? [{ channelId, hour, bytes, isOwn }] : [],
    );
  };

  return {
    async append(place, use) {
      const journal = await journalFor(place, hourOf(Date.parse(use.timestamp)));
      await journal.append(use);
    },
    hours: async (channelId) => (await list(pathOf(channelId))).map(({ hour }) => hour).sort(),
    read: (channelId, hour) => within(channelId, hour, (journal) => journal.read()),
    change: (channelId, hour, change) =>
      within(channelId, hour, async (journal) => {
        await journal.eraseCopies(() => true);
        const { records } = await journal.read();
        const kept = records.flatMap((use) => change(use) ?? []);
        if (kept.length === records.length && kept.every((use, index) => use === records[index])) return;
        await (kept.length === 0 ? journal.erase() : journal.rewrite(kept));
      }),
    list: () => list([botId()]),
    erase: (channelId, hour) => within(channelId, hour, (journal) => journal.erase()),
    release,
    async close() {
      for (const channelId of [...opened.keys()]) await release(channelId);
    },
  };
}

const DAY_MS = 24 * 60 * 60_000;

interface RetentionDependencies {
  readonly journals: Pick<HistoryJournals, 'list' | 'erase'>;
  /** By channel. */
  readonly mutex: KeyedMutex;
  readonly now: number;
  /** Maximum age in days; 0: no limit. */
  readonly days: number;
  /** Maximum size of all channels together. */
  readonly bytes: number;
}

/**
 * Removes calls that are too old, and the oldest beyond the size, hour by hour, among this host's. The current hour, which is being written, stays.
 * @returns the channels whose calls were removed
 */
export async function removeOldCalls({
  journals,
  mutex,
  now,
  days,
  bytes,
}: RetentionDependencies): Promise<ReadonlySet<string>> {
  const oldest = days === 0 ? '' : hourOf(now - days * DAY_MS);
  const hours = [...(await journals.list())].sort((one, other) => (one.hour < other.hour ? -1 : 1));
  let excess = hours.reduce((sum, one) => sum + one.bytes, 0) - bytes;
  const channels = new Set<string>();
  for (const { channelId, hour, bytes: size, isOwn } of hours) {
    if (hour === hourOf(now) || (hour >= oldest && excess <= 0)) continue;
    excess -= size;
    if (!isOwn) continue;
    await mutex.run(channelId, () => journals.erase(channelId, hour));
    channels.add(channelId);
  }
  return channels;
}
