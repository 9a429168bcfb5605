import type { LedgerEntry } from '@cinnabar/sdk';

/** Where calls are kept. Every method resolves once it is on the disk. */
export interface LedgerStore {
  /** The calls that had not ended. */
  unfinished(): Promise<readonly LedgerEntry[]>;
  save(entry: LedgerEntry): Promise<void>;
  /** The id of the call with that key, if it has got as far as a row. */
  byKey(key: string): Promise<string | undefined>;
  get(callId: string): Promise<LedgerEntry | undefined>;
  /** Ids of the calls that have ended, the oldest first: ids sort by time. */
  finished(): Promise<readonly string[]>;
  remove(callId: string): Promise<void>;
  /** Removes an ended call with every copy of it. */
  erase(callId: string): Promise<void>;
}
