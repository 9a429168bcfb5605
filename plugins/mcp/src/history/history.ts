import {
  type Clock,
  compareIds,
  createdAt,
  FORGOTTEN,
  findPlace,
  idAt,
  isOf,
  type KeyedMutex,
  type Logger,
  type PersonalData,
  type Provenance,
  type RecordedUse,
  type SettledCall,
  type ToolHistory,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { cutText } from '../importing/result.js';
import { type CallPlace, type HistoryJournals, hourOf } from './journals.js';

/** The storage of the history, and what is needed to write to it. */
interface HistoryDependencies {
  readonly journals: Pick<HistoryJournals, 'append' | 'hours' | 'read'>;
  /** By channel. */
  readonly mutex: KeyedMutex;
  readonly log: Logger;
}

interface HistoryStore extends ToolHistory {
  record(place: CallPlace, use: RecordedUse): Promise<void>;
  /** Clears the memory cache of all channels, or of one, after a change of the stored data. */
  forgetCached(channelId?: string): void;
}

interface Cached {
  /** The cache contains all calls from this message on, within the limits; `undefined`: all calls within the limits. */
  readonly since: string | undefined;
  readonly uses: readonly RecordedUse[];
  /** Approximate size of their text. */
  readonly characters: number;
}

/** Limits for one channel: a window has a few hundred messages, so more calls or text would be useless. The newest are returned. */
const LIMITS = { calls: 1_000, characters: 4_000_000 };
const MOST_CHANNELS = 200;
/** Limit for all channels together, since results may be long. The least recently used channels are dropped first. */
const MOST_CHARACTERS = 8_000_000;

/** The calls of channels: stored in journals, and cached in memory from the first use of a channel on. */
export function createHistory({ journals, mutex, log }: HistoryDependencies): HistoryStore {
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
            uses: await readUses(journals, channelId, { since, ...LIMITS }, log),
          });
        }
        const uses =
          since === undefined ? known.uses : known.uses.filter(({ call }) => compareIds(call.messageId, since) >= 0);
        return keep(channelId, { since: since ?? known.since, uses });
      }),
    record: (place, use) =>
      mutex.run(place.channelId, async () => {
        const { channelId } = place;
        await journals.append(place, use);
        const known = cache.get(channelId);
        if (known !== undefined) keep(channelId, { since: known.since, uses: newest([...known.uses, use], LIMITS) });
      }),
    forgetCached(channelId) {
      for (const one of channelId === undefined ? [...cache.keys()] : [channelId]) drop(one);
    },
  };
}

/** Whether the requested range begins before the cached one. */
function reachesFurther(wanted: string | undefined, known: string | undefined): boolean {
  if (known === undefined) return false;
  return wanted === undefined || compareIds(wanted, known) < 0;
}

/** Maximum number of calls, and approximate maximum of their text together. The latest call is always included. */
interface HistoryLimits {
  readonly calls: number;
  readonly characters: number;
}

interface Window extends HistoryLimits {
  /** Only calls after this message. */
  readonly since?: string | undefined;
}

type ReadJournals = Pick<HistoryJournals, 'hours' | 'read'>;

/** The calls of a channel, oldest first. Reads the newest hours first, and only as many as needed. */
async function readUses(
  journals: ReadJournals,
  channelId: string,
  { since, ...limits }: Window,
  log: Logger,
): Promise<readonly RecordedUse[]> {
  // No call ends before the message that it follows was written.
  const firstHour = since === undefined ? '' : hourOf(createdAt(since));
  const found: RecordedUse[][] = [];
  let [count, characters] = [0, 0];
  for (const hour of (await journals.hours(channelId)).toReversed()) {
    if (count >= limits.calls || characters >= limits.characters) break;
    if (hour < firstHour) break;
    const uses = (await readHour(journals, channelId, hour, log)).filter(
      ({ call }) => since === undefined || compareIds(call.messageId, since) >= 0,
    );
    found.unshift([...uses]);
    count += uses.length;
    characters += uses.reduce((sum, use) => sum + charactersOf(use), 0);
  }
  return newest(found.flat(), limits);
}

/** The latest calls within the limits. */
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
/** Each call is serialised once for its size: serialising all calls of a channel for each new one would take a tenth of a second. */
const counted = new WeakMap<RecordedUse, number>();

/** The approximate size of a call's text. */
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

async function readHour(
  journals: ReadJournals,
  channelId: string,
  hour: string,
  log: Logger,
): Promise<readonly RecordedUse[]> {
  const { records, damaged } = await journals.read(channelId, hour);
  if (damaged > 0)
    log.warn('lines of the tool history could not be read and were passed over', { channelId, hour, damaged });
  return records;
}

/** Records every finished call. After a disk failure the record is missing; the call itself is not affected. */
export function createRecorder(history: HistoryStore, clock: Clock, log: Logger) {
  return async function record(call: SettledCall): Promise<void> {
    try {
      await history.record(call.actor, recordOf(call, clock.now()));
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

/** Arguments as an object: calls that were refused because their arguments are not an object are recorded, too. */
function asRecord(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { ...input };
  return input === undefined ? {} : { given: String(input).slice(0, 4_000) };
}

const WITHHELD = '(from a place that you cannot read now, or deleted there)';

/** The calls on behalf of one member, over all channels and hours of this host. */
export function historyOf(
  history: HistoryStore,
  journals: HistoryJournals,
  { mutex, log }: Omit<HistoryDependencies, 'journals'>,
  { client, provenance }: { readonly client: Client; readonly provenance: Pick<Provenance, 'mayHave'> },
): PersonalData {
  /**
   * A call for the member's export: without a result that they may not read now, and without arguments that a model wrote in a place that they may not read.
   * Arguments of an agent are always withheld, since an agent writes with knowledge from all its places.
   */
  const asTheirs = async (use: RecordedUse, mayHaveWords: boolean, userId: string) => {
    const { call, result, timestamp } = use;
    if (!mayHaveWords || call.identity !== undefined)
      return { call: { id: call.id, name: call.name, input: WITHHELD }, timestamp };
    if (result.error !== undefined || (await provenance.mayHave(result.sources, userId))) return use;
    return { ...use, result: { callId: result.callId, output: WITHHELD } };
  };

  const channels = async () => {
    const hours = new Map<string, string[]>();
    for (const { channelId, hour, isOwn } of await journals.list())
      if (isOwn) hours.set(channelId, [...(hours.get(channelId) ?? []), hour].sort());
    return hours;
  };

  return {
    async export(userId) {
      const found: Record<string, unknown> = {};
      for (const [channelId, hours] of await channels()) {
        const uses = await Promise.all(hours.map((hour) => readHour(journals, channelId, hour, log)));
        const theirs = uses.flat().filter(({ call }) => call.userId === userId);
        if (theirs.length === 0) continue;
        const mayHaveWords = await provenance.mayHave([await findPlace(client, channelId)], userId);
        found[channelId] = await Promise.all(theirs.map((use) => asTheirs(use, mayHaveWords, userId)));
      }
      return found;
    },
    async forget(userId) {
      for (const [channelId, hours] of await channels()) {
        await mutex.run(channelId, async () => {
          await journals.release(channelId);
          for (const hour of hours) await journals.change(channelId, hour, (use) => withoutWordsOf(userId, use));
        });
      }
      // Clears all channels, since another host may have changed stored calls of channels that this host has cached.
      history.forgetCached();
    },
  };
}

/** The remaining part of a call after the deletion of a member's data; `undefined` for their own calls. */
function withoutWordsOf(userId: string, use: RecordedUse): RecordedUse | undefined {
  if (use.call.userId === userId) return undefined;
  return isOf(use.result.sources, userId) ? withoutWords(use) : use;
}

/** Another member's call without its result, which contained text of the member whose data are deleted. */
function withoutWords({ result, ...use }: RecordedUse): RecordedUse {
  return { ...use, result: { callId: result.callId, output: null, error: FORGOTTEN } };
}
