import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, RecordedUse } from '@cinnabar/sdk';
import { encodeLine } from './line.js';
import { endOfHour, fileName, hourOf } from './place.js';

interface OpenFile {
  readonly hour: string;
  readonly handle: FileHandle;
}

/** Appends calls to the files of their hour. Whoever calls it sees to it that one folder is written to by one call at a time. */
export interface Journal {
  append(folder: string, use: RecordedUse): Promise<void>;
  /** Closes the folder's file, so that it can be rewritten. */
  release(folder: string): Promise<void>;
  close(): Promise<void>;
}

/** A busy bot has more channels than a process may have files. */
const MOST_OPEN = 64;

/** @param after runs a task later, and takes it back when the plugin stops */
export function createJournal(clock: Clock, after: (delayMs: number, task: () => unknown) => unknown): Journal {
  const files = new Map<string, OpenFile>();
  let boundaryAt = 0;

  const release = async (folder: string) => {
    const file = files.get(folder);
    files.delete(folder);
    await file?.handle.close();
  };

  const closePast = async () => {
    const now = hourOf(clock.now());
    for (const [folder, { hour }] of files) if (hour !== now) await release(folder);
  };

  const watchBoundary = () => {
    const end = endOfHour(clock.now());
    if (boundaryAt === end) return;
    boundaryAt = end;
    after(end - clock.now(), closePast);
  };

  const fileFor = async (folder: string, hour: string): Promise<FileHandle> => {
    const known = files.get(folder);
    if (known !== undefined) files.delete(folder);
    if (known?.hour === hour) {
      files.set(folder, known);
      return known.handle;
    }
    await known?.handle.close();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const handle = await open(join(folder, fileName(hour)), 'a+', 0o600);
    files.set(folder, { hour, handle });
    watchBoundary();
    const [oldest] = files.keys();
    if (files.size > MOST_OPEN && oldest !== undefined) await release(oldest);
    await endTornLine(handle);
    return handle;
  };

  return {
    async append(folder, use) {
      const handle = await fileFor(folder, hourOf(Date.parse(use.timestamp)));
      try {
        // One write: what a killed process has written is a whole line, or nothing.
        await handle.appendFile(encodeLine(use));
      } catch (error) {
        // Part of a line may be there: the next one starts with a look at the end.
        await release(folder);
        throw error;
      }
    },
    release,
    async close() {
      for (const folder of [...files.keys()]) await release(folder);
    },
  };
}

/** What a crash left without its end must not swallow the next line. */
async function endTornLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  if (size === 0) return;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  if (buffer.toString() !== '\n') await handle.appendFile('\n');
}
