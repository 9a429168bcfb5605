import { join } from 'node:path';
import {
  compareIds,
  createdAt,
  type KeyedMutex,
  type Logger,
  openJournal,
  type RecordedUse,
  type ToolHistory,
} from '@cinnabar/sdk';
import { type HistoryJournal, hourOf, hourOfFile, hoursIn, recordedUse } from './files.js';

interface Parts {
  readonly journal: HistoryJournal;
  readonly mutex: KeyedMutex;
  readonly log: Logger;
  /** Where a channel's calls lie. */
  folderOf(channelId: string): string;
}

export interface HistoryStore extends ToolHistory {
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
export function createHistory({ journal, mutex, log, folderOf }: Parts): HistoryStore {
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
      mutex.run(channelId, async () => {
        const known = cache.get(channelId);
        if (known === undefined || reachesFurther(since, known.since)) {
          return keep(channelId, {
            since,
            uses: await readUses(folderOf(channelId), { since, ...LIMITS }, log),
          });
        }
        const uses =
          since === undefined ? known.uses : known.uses.filter(({ call }) => compareIds(call.messageId, since) >= 0);
        return keep(channelId, { since: since ?? known.since, uses });
      }),
    record: (channelId, use) =>
      mutex.run(channelId, async () => {
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
  return wanted === undefined || compareIds(wanted, known) < 0;
}

/** How many calls are given, and about how much text they may hold together; the latest one is given however long it is. */
interface HistoryLimits {
  readonly calls: number;
  readonly characters: number;
}

interface Window extends HistoryLimits {
  /** Only calls after this message. */
  readonly since?: string | undefined;
}

/** The calls in a channel's folder, oldest first. Reads the newest files first, and no more of them than it needs. */
async function readUses(folder: string, { since, ...limits }: Window, log: Logger): Promise<readonly RecordedUse[]> {
  // A call never ends before the message that it follows was written.
  const firstHour = since === undefined ? '' : hourOf(createdAt(since));
  const found: RecordedUse[][] = [];
  let [count, characters] = [0, 0];
  for (const name of (await hoursIn(folder)).reverse()) {
    if (count >= limits.calls || characters >= limits.characters) break;
    if ((hourOfFile(name) ?? '') < firstHour) break;
    const uses = (await readHour(join(folder, name), log)).filter(
      ({ call }) => since === undefined || compareIds(call.messageId, since) >= 0,
    );
    found.unshift([...uses]);
    count += uses.length;
    characters += uses.reduce((sum, use) => sum + charactersOf(use), 0);
  }
  return newest(found.flat(), limits);
}

/** The latest of them that the limits admit. */
function newest(uses: readonly RecordedUse[], { calls, characters }: HistoryLimits): readonly RecordedUse[] {
  let left = characters;
  let first = uses.length;
  while (first > 0 && uses.length - first < calls) {
    const use = uses[first - 1];
    left -= use === undefined ? 0 : charactersOf(use);
    if (left < 0 && first < uses.length) break;
    first -= 1;
  }
  return uses.slice(first);
}

const CALL_CHARACTERS = 200;
/** Each call is counted once: to write out all of a channel's with every new one takes a tenth of a second. */
const counted = new WeakMap<RecordedUse, number>();

/** About how much text a call holds. */
function charactersOf(use: RecordedUse): number {
  const known = counted.get(use);
  if (known !== undefined) return known;
  const { call, result } = use;
  const { output } = result;
  const said = typeof output === 'string' ? output : JSON.stringify(output ?? null);
  const characters = CALL_CHARACTERS + said.length + (result.error?.length ?? 0) + JSON.stringify(call.input).length;
  counted.set(use, characters);
  return characters;
}

export async function readHour(path: string, log: Logger): Promise<readonly RecordedUse[]> {
  const { records, damaged } = await openJournal(path, recordedUse).read();
  if (damaged > 0) log.warn('lines of the tool history could not be read and were passed over', { path, damaged });
  return records;
}
