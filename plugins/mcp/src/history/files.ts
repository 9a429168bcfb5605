import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Clock,
  type Files,
  type Journal,
  type KeyedMutex,
  openJournal,
  type RecordedUse,
  removeFiles,
  toolSource,
  z,
} from '@cinnabar/sdk';

const HOUR_MS = 3_600_000;
/** Ids come from Discord, but a path is not the place to rely on it. */
const ID = /^\d{1,20}$/;

/** Where the calls of one channel lie: `{root}/{botId}/{channelId}`. */
export function channelFolder(root: string, botId: string, channelId: string): string {
  for (const id of [botId, channelId]) if (!ID.test(id)) throw new TypeError(`"${id}" is not an id`);
  return join(root, botId, channelId);
}

/** `2026-11-21-22`, in UTC: the file in which what ended at that time is kept. */
export function hourOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 13).replace('T', '-');
}

/** The first moment after the hour of `timeMs`. */
function endOfHour(timeMs: number): number {
  return (Math.floor(timeMs / HOUR_MS) + 1) * HOUR_MS;
}

const FILE = /^(\d{4}-\d{2}-\d{2}-\d{2})\.jsonl$/;

const fileName = (hour: string): string => `${hour}.jsonl`;

/** The hour of a file, or `undefined` for a file that is not one of ours. */
export function hourOfFile(name: string): string | undefined {
  return FILE.exec(name)?.[1];
}

/** One line of a file of calls. */
export const recordedUse: z.ZodType<RecordedUse> = z.object({
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

interface OpenFile {
  readonly hour: string;
  readonly journal: Journal<RecordedUse>;
}

/** Appends calls to the files of their hour. The caller makes sure that one folder is written to by one call at a time. */
export interface HistoryJournal {
  append(folder: string, use: RecordedUse): Promise<void>;
  /** Closes the folder's file, so that it can be rewritten. */
  release(folder: string): Promise<void>;
  close(): Promise<void>;
}

/** A busy bot has more channels than a process may have files. */
const MOST_OPEN = 64;

/** @param after runs a task later, and takes it back when the plugin stops */
export function createJournal(
  clock: Clock,
  after: (delayMs: number, task: () => unknown) => unknown,
  files: Pick<Files, 'journal'> = { journal: openJournal },
): HistoryJournal {
  const opened = new Map<string, OpenFile>();
  let boundaryAt = 0;

  const release = async (folder: string) => {
    const file = opened.get(folder);
    opened.delete(folder);
    await file?.journal.release();
  };

  const closePast = async () => {
    const now = hourOf(clock.now());
    for (const [folder, { hour }] of opened) if (hour !== now) await release(folder);
  };

  const watchBoundary = () => {
    const end = endOfHour(clock.now());
    if (boundaryAt === end) return;
    boundaryAt = end;
    after(end - clock.now(), closePast);
  };

  const journalFor = async (folder: string, hour: string): Promise<Journal<RecordedUse>> => {
    const known = opened.get(folder);
    opened.delete(folder);
    if (known?.hour === hour) {
      opened.set(folder, known);
      return known.journal;
    }
    await known?.journal.release();
    const journal = files.journal(join(folder, fileName(hour)), recordedUse);
    opened.set(folder, { hour, journal });
    watchBoundary();
    const [oldest] = opened.keys();
    if (opened.size > MOST_OPEN && oldest !== undefined) await release(oldest);
    return journal;
  };

  return {
    async append(folder, use) {
      const journal = await journalFor(folder, hourOf(Date.parse(use.timestamp)));
      await journal.append(use);
    },
    release,
    async close() {
      for (const folder of [...opened.keys()]) await release(folder);
    },
  };
}

const DAY_MS = 24 * 60 * 60_000;

interface RetentionParts {
  /** The bot's own folder. */
  readonly root: string;
  readonly mutex: KeyedMutex;
  readonly now: number;
  /** 0: whatever their age. */
  readonly days: number;
  /** Of all channels together. */
  readonly bytes: number;
}

/**
 * Removes the files of calls that are too old, and the oldest beyond the size. The file of the present hour stays: it is being written.
 * @returns the channels of which files are gone
 */
export async function removeOldCalls({ root, mutex, now, days, bytes }: RetentionParts): Promise<ReadonlySet<string>> {
  const oldest = days === 0 ? '' : hourOf(now - days * DAY_MS);
  const files = (await filesBelow(root)).sort((one, other) => (one.hour < other.hour ? -1 : 1));
  let excess = files.reduce((sum, { size }) => sum + size, 0) - bytes;
  const channels = new Set<string>();
  for (const { channelId, name, hour, size } of files) {
    if (hour === hourOf(now) || (hour >= oldest && excess <= 0)) continue;
    await mutex.run(channelId, () => removeFiles(join(root, channelId), [name]));
    excess -= size;
    channels.add(channelId);
  }
  return channels;
}

async function filesBelow(root: string) {
  const channels = await readdir(root).catch(() => []);
  const found = await Promise.all(
    channels.map(async (channelId) => {
      const names = await hoursIn(join(root, channelId)).catch(() => []);
      return Promise.all(
        names.map(async (name) => {
          const size = await stat(join(root, channelId, name)).then(
            (file) => file.size,
            () => 0,
          );
          return { channelId, name, hour: hourOfFile(name) ?? '', size };
        }),
      );
    }),
  );
  return found.flat();
}

/** Names of the files of a folder, oldest first. */
export async function hoursIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => hourOfFile(name) !== undefined).sort();
}
