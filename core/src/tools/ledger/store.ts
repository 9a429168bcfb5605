import type { LedgerEntry } from '@cinnabar/sdk';

/** Where calls are kept. Every method resolves once it is on the disk. */
export interface LedgerStore {
  /** The calls that have not been archived: those that had not ended, and those that an earlier process ended last. */
  unarchived(): Promise<readonly LedgerEntry[]>;
  /** One write: whenever the process dies, the call is in the state before or in this one. */
  save(entry: LedgerEntry): Promise<void>;
  /** Puts a call that has ended among the others that have. Changes nothing of what is known of it, and may be repeated. */
  archive(entry: LedgerEntry): Promise<void>;
  /** The id of the latest call with that key. Its row may be lost or forgotten; without an id there has been none. */
  byKey(key: string): Promise<string | undefined>;
  get(callId: string): Promise<LedgerEntry | undefined>;
  /** Ids of the archived calls, the oldest first: ids sort by time. */
  archived(): Promise<readonly string[]>;
  /** When an archived call has ended, also one that was erased; ms since the epoch. */
  endedAt(callId: string): Promise<number | undefined>;
  /** Removes an archived call, and its key. */
  remove(callId: string): Promise<void>;
  /** Writes an archived call anew, with no copy of what it said before. */
  rewrite(entry: LedgerEntry): Promise<void>;
  /** Removes all that an archived call says, with every copy of it. Its key stays taken until `remove`. */
  erase(callId: string): Promise<void>;
}
