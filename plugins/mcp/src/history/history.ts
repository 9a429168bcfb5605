import type { Logger, RecordedUse, Sequences, ToolHistory } from '@cinnabar/sdk';
import type { HistoryJournal } from './journal.js';
import { readUses } from './reader.js';
import { byAge } from './snowflake.js';

interface Parts {
  readonly journal: HistoryJournal;
  readonly sequences: Sequences;
  readonly log: Logger;
  /** Where a channel's calls lie. */
  folderOf(channelId: string): string;
}

export interface HistoryRoom extends ToolHistory {
  record(channelId: string, use: RecordedUse): Promise<void>;
  /** Lets go of what is in memory: the files have changed. */
  forgetCached(channelId: string): void;
}

interface Cached {
  /** Everything from this message on is here; `undefined`: the latest `MOST_CALLS`. */
  readonly since: string | undefined;
  readonly uses: readonly RecordedUse[];
}

/** A window has a few hundred messages: more calls than this would not be of use to any mind. */
const MOST_CALLS = 1_000;
const MOST_CHANNELS = 200;

/** What channels' calls are, kept in memory from their first use on, and on the disk. */
export function createHistory({ journal, sequences, log, folderOf }: Parts): HistoryRoom {
  const cache = new Map<string, Cached>();

  const keep = (channelId: string, cached: Cached) => {
    cache.delete(channelId);
    cache.set(channelId, cached);
    const [oldest] = cache.keys();
    if (cache.size > MOST_CHANNELS && oldest !== undefined) cache.delete(oldest);
    return cached.uses;
  };

  return {
    recent: (channelId, since) =>
      sequences.run(channelId, async () => {
        const known = cache.get(channelId);
        if (known === undefined || reachesFurther(since, known.since)) {
          return keep(channelId, {
            since,
            uses: await readUses(folderOf(channelId), { since, limit: MOST_CALLS }, log),
          });
        }
        const uses =
          since === undefined ? known.uses : known.uses.filter(({ call }) => byAge(call.messageId, since) >= 0);
        return keep(channelId, { since: since ?? known.since, uses });
      }),
    record: (channelId, use) =>
      sequences.run(channelId, async () => {
        await journal.append(folderOf(channelId), use);
        const known = cache.get(channelId);
        if (known !== undefined) cache.set(channelId, { ...known, uses: [...known.uses, use].slice(-MOST_CALLS) });
      }),
    forgetCached: (channelId) => void cache.delete(channelId),
  };
}

/** Whether what is wanted begins before what is known. */
function reachesFurther(wanted: string | undefined, known: string | undefined): boolean {
  if (known === undefined) return false;
  return wanted === undefined || byAge(wanted, known) < 0;
}
