import { join } from 'node:path';
import { type Clock, type Files, type Journal, openJournal, type RecordedUse } from '@cinnabar/sdk';
import { recordedUse } from './line.js';
import { endOfHour, fileName, hourOf } from './place.js';

interface OpenFile {
  readonly hour: string;
  readonly journal: Journal<RecordedUse>;
}

/** Appends calls to the files of their hour. Whoever calls it sees to it that one folder is written to by one call at a time. */
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
