import type { LedgerEntry } from '@cinnabar/sdk';

/** Where calls are kept. Every method resolves once it is on the disk. */
export interface LedgerStore {
  /** The calls that had not ended. */
  unfinished(): Promise<readonly LedgerEntry[]>;
  save(entry: LedgerEntry): Promise<void>;
  /** The id of the latest call with that key. Its row may be lost or forgotten; without an id there has been none. */
  byKey(key: string): Promise<string | undefined>;
  get(callId: string): Promise<LedgerEntry | undefined>;
  /** Ids of the calls that have ended, the oldest first: ids sort by time. */
  finished(): Promise<readonly string[]>;
  /** When a call has ended, also one that was erased; ms since the epoch. */
  endedAt(callId: string): Promise<number | undefined>;
  /** Removes an ended call, and its key. */
  remove(callId: string): Promise<void>;
  /** Removes all that an ended call says, with every copy of it. Its key stays taken until `remove`. */
  erase(callId: string): Promise<void>;
}
