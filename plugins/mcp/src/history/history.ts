import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  type Clock,
  compareIds,
  createdAt,
  decodeLine,
  FORGOTTEN,
  findPlace,
  idAt,
  isOf,
  type KeyedMutex,
  type Logger,
  leftUnfinished,
  openJournal,
  type PersonalData,
  type Provenance,
  type RecordedUse,
  removeFiles,
  replaceFile,
  type SettledCall,
  type ToolHistory,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { cutText } from '../importing/result.js';
import { type HistoryJournal, hourOf, hourOfFile, hoursIn, recordedUse } from './files.js';

/** Where the history lies, and what its files are written with. */
interface HistoryFiles {
  readonly journal: HistoryJournal;
  /** By channel. */
  readonly mutex: KeyedMutex;
  readonly log: Logger;
  /** Where a channel's calls lie. */
  folderOf(channelId: string): string;
}

interface HistoryStore extends ToolHistory {
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
export function createHistory({ journal, mutex, log, folderOf }: HistoryFiles): HistoryStore {
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

async function readHour(path: string, log: Logger): Promise<readonly RecordedUse[]> {
  const { records, damaged } = await openJournal(path, recordedUse).read();
  if (damaged > 0) log.warn('lines of the tool history could not be read and were passed over', { path, damaged });
  return records;
}

/** Writes down every call that is over. A disk that fails costs the record, not the call. */
export function createRecorder(history: HistoryStore, clock: Clock, log: Logger) {
  return async function record(call: SettledCall): Promise<void> {
    try {
      await history.record(call.actor.channelId, recordOf(call, clock.now()));
    } catch (error) {
      log.error('a tool call could not be added to the history', { callId: call.id, tool: call.tool, error });
    }
  };
}

function recordOf({ id, tool, input, actor, messageId, outcome }: SettledCall, now: number): RecordedUse {
  return {
    call: {
      id,
      name: tool,
      input: asRecord(input),
      messageId: messageId ?? idAt(now),
      userId: actor.userId,
      ...(actor.identity === undefined ? {} : { identity: actor.identity }),
    },
    result:
      outcome.status === 'done'
        ? {
            callId: id,
            output: cutText(outcome.text),
            ...(outcome.sources === undefined ? {} : { sources: outcome.sources }),
            ...(outcome.audience === undefined ? {} : { audience: outcome.audience }),
          }
        : {
            callId: id,
            output: null,
            error: cutText(outcome.status === 'failed' ? outcome.error.message : outcome.reason),
          },
    timestamp: new Date(now).toISOString(),
  };
}

/** What was refused because it was no object is kept all the same. */
function asRecord(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { ...input };
  return input === undefined ? {} : { given: String(input).slice(0, 4_000) };
}

const WITHHELD = '(from a place that you cannot read now, or deleted there)';

/**
 * The calls that one member asked for, over all channels and hours.
 * @param root the bot's own folder
 */
export function historyOf(
  history: HistoryStore,
  { journal, mutex, log, folderOf }: HistoryFiles,
  root: () => string,
  { client, provenance }: { readonly client: Client; readonly provenance: Pick<Provenance, 'mayHave'> },
): PersonalData {
  /**
   * What they may not read any more is not theirs because they asked for it once; nor is what a model wrote as arguments where they cannot read now what
   * it had read there. An agent writes from all the places that it lives in, with their rights, and not to them.
   */
  const asTheirs = async (use: RecordedUse, mayHaveWords: boolean, userId: string) => {
    const { call, result, timestamp } = use;
    if (!mayHaveWords || call.identity !== undefined)
      return { call: { id: call.id, name: call.name, input: WITHHELD }, timestamp };
    if (result.error !== undefined || (await provenance.mayHave(result.sources, userId))) return use;
    return { ...use, result: { callId: result.callId, output: WITHHELD } };
  };

  const channels = async () => (await readdir(root()).catch(() => [])).filter((name) => /^\d+$/.test(name));

  return {
    async export(userId) {
      const found: Record<string, unknown> = {};
      for (const channelId of await channels()) {
        const folder = folderOf(channelId);
        const hours = await Promise.all((await hoursIn(folder)).map((name) => readHour(join(folder, name), log)));
        const theirs = hours.flat().filter(({ call }) => call.userId === userId);
        if (theirs.length === 0) continue;
        const mayHaveWords = await provenance.mayHave([await findPlace(client, channelId)], userId);
        found[channelId] = await Promise.all(theirs.map((use) => asTheirs(use, mayHaveWords, userId)));
      }
      return found;
    },
    async forget(userId) {
      for (const channelId of await channels()) {
        await mutex.run(channelId, async () => {
          const folder = folderOf(channelId);
          await journal.release(folder);
          // What a crash left of writing a file anew may hold their calls, too.
          await removeFiles(folder, leftUnfinished(folder, await readdir(folder)));
          for (const name of await hoursIn(folder)) await withoutWordsOf(userId, join(folder, name));
          history.forgetCached(channelId);
        });
      }
    },
  };
}

/** Whatever else is in the file stays as it is, torn lines too. */
async function withoutWordsOf(userId: string, path: string): Promise<void> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  const kept = lines.flatMap((line) => {
    const use = decodeLine(line, recordedUse)?.record;
    if (use === undefined) return [line];
    if (use.call.userId === userId) return [];
    return [isOf(use.result.sources, userId) ? JSON.stringify(withoutWords(use)) : line];
  });
  if (kept.length === lines.length && kept.every((line, index) => line === lines[index])) return;
  if (kept.every((line) => line.trim() === '')) return removeFiles(dirname(path), [basename(path)]);
  await replaceFile(path, kept.join('\n'));
}

/** Another member's call stays; what it returned held words of the one who is forgotten. */
function withoutWords({ result, ...use }: RecordedUse): RecordedUse {
  return { ...use, result: { callId: result.callId, output: null, error: FORGOTTEN } };
}
