import type { Logger, RecordedUse, Sequences, ToolHistory } from '@cinnabar/sdk';
import type { HistoryJournal } from './journal.js';
import { charactersOf, newest, readUses } from './reader.js';
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
  /** Everything from this message on is here, as far as the limits go; `undefined`: all that they admit. */
  readonly since: string | undefined;
  readonly uses: readonly RecordedUse[];
  /** About how much text they hold. */
  readonly characters: number;
}

/** A window has a few hundred messages: more calls or text than this would not be of use to any mind. The newest are given. */
const LIMITS = { calls: 1_000, characters: 4_000_000 };
const MOST_CHANNELS = 200;
/** Of all channels together: results may be long. Those used longest ago go first. */
const MOST_CHARACTERS = 8_000_000;

/** What channels' calls are, kept in memory from their first use on, and on the disk. */
export function createHistory({ journal, sequences, log, folderOf }: Parts): HistoryRoom {
  const cache = new Map<string, Cached>();

  let characters = 0;

  const drop = (channelId: string) => {
    characters -= cache.get(channelId)?.characters ?? 0;
    cache.delete(channelId);
  };
  const keep = (channelId: string, { since, uses }: Omit<Cached, 'characters'>) => {
    drop(channelId);
    const cached = { since, uses, characters: uses.reduce((sum, use) => sum + charactersOf(use), 0) };
    cache.set(channelId, cached);
    characters += cached.characters;
    for (const oldest of cache.keys()) {
      if (oldest === channelId || (cache.size <= MOST_CHANNELS && characters <= MOST_CHARACTERS)) break;
      drop(oldest);
    }
    return uses;
  };

  return {
    recent: (channelId, since) =>
      sequences.run(channelId, async () => {
        const known = cache.get(channelId);
        if (known === undefined || reachesFurther(since, known.since)) {
          return keep(channelId, {
            since,
            uses: await readUses(folderOf(channelId), { since, ...LIMITS }, log),
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
        if (known !== undefined) keep(channelId, { since: known.since, uses: newest([...known.uses, use], LIMITS) });
      }),
    forgetCached: drop,
  };
}

/** Whether what is wanted begins before what is known. */
function reachesFurther(wanted: string | undefined, known: string | undefined): boolean {
  if (known === undefined) return false;
  return wanted === undefined || byAge(wanted, known) < 0;
}
