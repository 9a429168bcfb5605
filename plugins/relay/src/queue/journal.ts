import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '@cinnabar/sdk';
import { decodeRecords, encodeRecord, type QueueRecord } from './record.js';

/** Where the queue is written down. */
export interface QueueStore {
  /**
   * Everything that was written, in its order. Comes before anything else.
   * @param snapshot what all records, those handed over since included, add up to: asked for at each compaction
   */
  load(snapshot: () => readonly QueueRecord[]): Promise<readonly QueueRecord[]>;
  /** Resolves when the record is on the disk. In the order of the calls. */
  append(record: QueueRecord): Promise<void>;
  /** Writes the journal anew, so that nothing but what the queue holds is left on the disk. */
  compact(): Promise<void>;
  /** Compacts, and lets go of the file. Nothing can be written after. */
  close(): Promise<void>;
}

/** Members' words are gone from the disk this long after they are done with. */
const COMPACT_AFTER_MS = 60_000;
/** A journal that grows faster than that is compacted by size. */
const COMPACT_AT_BYTES = 4_000_000;

interface Waiting {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The queue's journal: a file to which lines are appended. What is asked for while a write is under way goes with the next write, so that
 * a burst costs one `fdatasync`, not one an event. The sync is not against a killed process (what it has written is the kernel's) but
 * against a lost machine: without it a batch that was sent could come back as unsent, and be sent under another key.
 * @param folder is made where it is missing
 */
export function createJournal(folder: string, clock: Clock, log: Logger): QueueStore {
  const path = join(folder, 'queue.jsonl');
  const fresh = `${path}.new`;
  let handle: FileHandle | undefined;
  /** `undefined` before `load` and after `close`. */
  let source: (() => readonly QueueRecord[]) | undefined;
  let waiting: Waiting[] = [];
  let rewrite: Omit<Waiting, 'line'>[] = [];
  /** After a write that failed nobody knows where the file ends: it is written anew. */
  let doubtful = true;
  let bytes = 0;
  let compactAtBytes = COMPACT_AT_BYTES;
  let writing = false;
  let stopTimer: (() => void) | undefined;

  const writeAnew = async () => {
    if (source === undefined) throw new Error('the journal of the queue is not open');
    const text = source().map(encodeRecord).join('');
    await handle?.close();
    handle = undefined;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const next = await open(fresh, 'w', 0o600);
    try {
      await next.appendFile(text);
      await next.datasync();
      await rename(fresh, path);
      await syncFolder(folder);
    } catch (error) {
      await next.close();
      throw error;
    }
    handle = next;
    bytes = text.length;
    compactAtBytes = Math.max(COMPACT_AT_BYTES, 2 * bytes);
    doubtful = false;
  };

  const writeLines = async (file: FileHandle, lines: string) => {
    await file.appendFile(lines);
    await file.datasync();
    bytes += lines.length;
    if (bytes > compactAtBytes) doubtful = true;
  };

  const step = async () => {
    const lines = waiting;
    const rewrites = rewrite;
    waiting = [];
    rewrite = [];
    const asked = [...lines, ...rewrites];
    try {
      // What is in `lines` is already in the snapshot: a record counts from when it is handed over.
      if (handle === undefined || doubtful || rewrites.length > 0) await writeAnew();
      else await writeLines(handle, lines.map(({ line }) => line).join(''));
      for (const { resolve } of asked) resolve();
    } catch (error) {
      doubtful = true;
      for (const { reject } of asked) reject(error);
    }
  };

  const writeAll = async () => {
    while (waiting.length > 0 || rewrite.length > 0) await step();
    writing = false;
  };

  const start = () => {
    if (writing) return;
    writing = true;
    // Not at once: what is asked for in the same breath goes with the first write.
    queueMicrotask(writeAll);
  };

  const compact = () =>
    new Promise<void>((resolve, reject) => {
      stopTimer?.();
      stopTimer = undefined;
      rewrite.push({ resolve, reject });
      start();
    });

  const compactLater = () => {
    stopTimer ??= clock.after(COMPACT_AFTER_MS, () => {
      compact().catch((error: unknown) => log.error('the queue of the relay could not be compacted', { error }));
    });
  };

  return {
    async load(snapshot) {
      await rm(fresh, { force: true });
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return '';
        throw error;
      });
      const { records, damaged } = decodeRecords(text);
      if (damaged > 0) log.warn('lines of the queue of the relay cannot be read, and were left out', { damaged });
      source = snapshot;
      return records;
    },
    append(record) {
      if (record.is === 'ended' || record.is === 'dropped') compactLater();
      return new Promise<void>((resolve, reject) => {
        waiting.push({ line: encodeRecord(record), resolve, reject });
        start();
      });
    },
    compact,
    async close() {
      if (source === undefined) return;
      try {
        await compact();
      } finally {
        source = undefined;
        stopTimer?.();
        await handle?.close();
        handle = undefined;
      }
    },
  };
}

/** A file that was renamed stays so only when its folder is synced, too. Windows cannot, and need not. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
