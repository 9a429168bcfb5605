import { join } from 'node:path';
import { type Clock, type Files, type Journal, type Logger, openJournal } from '@cinnabar/sdk';
import { type QueueRecord, queueRecord } from './state.js';

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
 * The queue's journal. It is synced with every batch of records: not against a killed process (what it has written is the kernel's) but against
 * a power cut, after which a batch that was sent could come back as unsent, and be sent under another key.
 * @param folder is made where it is missing
 */
export function createQueueJournal(
  folder: string,
  clock: Clock,
  log: Logger,
  files: Pick<Files, 'journal'> = { journal: openJournal },
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
      const journal = files.journal(join(folder, 'queue.jsonl'), queueRecord, { snapshot });
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
