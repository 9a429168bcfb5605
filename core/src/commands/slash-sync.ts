import { createHash } from 'node:crypto';
import { CinnabarError, type Clock, type Document, isTransient, type Logger, sleep, z } from '@cinnabar/sdk';
import { ApplicationCommandType, type Client, Routes } from 'discord.js';
import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import type { SharedLimits } from '../cluster/limits.js';
import type { GuildState, OwnerChoices } from '../contracts.js';
import type { Localizations } from '../languages/languages.js';
import type { CommandServices } from './commands.js';
import type { Entry, Registry } from './registry.js';
import {
  type CommandPayload,
  commandDifferences,
  type Fitted,
  fitCommands,
  normalise,
  type SlashScope,
} from './slash-payload.js';

/** Guilds that are synchronised at once: because of Discord's rate limits, more would not be faster. */
const CONCURRENCY = 3;
/** The state is saved after this many lists: synchronising all of them may take many minutes. */
const SAVED_AFTER = 100;
/** A list that failed because Discord was unreachable is tried again, with growing delays. */
const FIRST_RETRY_MS = 30_000;
const LONGEST_RETRY_MS = 30 * 60_000;

type Dependencies = Pick<
  CommandServices,
  'owns' | 'client' | 'enabledIn' | 'choices' | 'languages' | 'clock' | 'log' | 'syncedLists' | 'slashPace'
>;

/** The wanted content of one list. */
interface Wanted extends Fitted {
  readonly digest: string;
}

/** Keeps Discord's lists of slash commands equal to the registry. Sends nothing that Discord has already, and nothing before the login. */
export function createSlashSync(
  {
    owns,
    client,
    enabledIn,
    choices,
    languages,
    clock,
    log,
    syncedLists,
    slashPace: pace = createSlashPace(clock),
  }: Dependencies,
  registry: Registry,
) {
  const warned = new LRUCache<string, true>({ max: 100 });
  const synced = createSyncedLists(syncedLists, client.rest.options.api, clock, log);
  const closing = new AbortController();
  const wantedIn = createWanted(registry, enabledIn, choices, languages.forDiscord);

  const warnOnce = (error: CinnabarError) => {
    if (warned.has(error.message)) return;
    warned.set(error.message, true);
    log.warn(error.message, { code: error.code });
  };
  /** A guild that the bot left and joined again has a new list. */
  const digestFor = (guildId: string | null, { digest }: Wanted) => {
    const joined = guildId === null ? undefined : client.guilds.cache.get(guildId)?.joinedTimestamp;
    return joined == null ? digest : `${digest} ${joined.toString(36)}`;
  };
  const isSynced = (guildId: string | null) => synced.holds(nameOf(guildId), digestFor(guildId, wantedIn(guildId)));

  let noted = 0;
  const bringInLine = async (guildId: string | null) => {
    if (!owns(guildId)) return;
    await synced.open();
    if (!client.isReady() || isSynced(guildId) || !(await pace(closing.signal))) return;
    const wanted = wantedIn(guildId);
    wanted.overflow.forEach(warnOnce);
    const { chatInput, others } = await fetchCommands(client, guildId);
    const changes = [
      ...commandDifferences(
        chatInput.map((command) => normalise(command, scopeOf(guildId))),
        wanted.payloads.map((command) => normalise(command, scopeOf(guildId))),
      ),
    ];
    if (changes.length > 0) {
      await synced.forget([nameOf(guildId)]);
      await overwriteCommands(client, guildId, wanted.payloads, others);
      log.info('slash commands updated', { guildId, changes });
    }
    synced.note(nameOf(guildId), digestFor(guildId, wanted));
    noted += 1;
    if (noted % SAVED_AFTER === 0) await synced.save();
  };

  const retries = new Map<string | null, { pauseMs: number; cancel: () => void }>();
  const retryLater = (guildId: string | null) => {
    const pauseMs = Math.min((retries.get(guildId)?.pauseMs ?? FIRST_RETRY_MS / 2) * 2, LONGEST_RETRY_MS);
    retries.set(guildId, { pauseMs, cancel: clock.after(pauseMs, () => void syncOne(guildId)) });
  };

  const run = coalesced<string | null>(async (guildId) => {
    retries.get(guildId)?.cancel();
    try {
      await bringInLine(guildId);
      retries.delete(guildId);
    } catch (error) {
      log.warn('slash commands could not be updated', { guildId, error });
      if (isTransient(error) || isUnwritten(error)) retryLater(guildId);
      else retries.delete(guildId);
    }
  }, CONCURRENCY);
  const syncOne = async (guildId: string | null) => {
    await run(guildId);
    await synced.save();
  };

  return {
    async sync(guildId: string | null, isNew = false): Promise<void> {
      if (isNew) await synced.forget([nameOf(guildId)]);
      await syncOne(guildId);
    },
    async syncAll(): Promise<void> {
      if (!client.isReady()) return;
      await synced.open();
      const changed = [null, ...client.guilds.cache.keys()].filter((guildId) => owns(guildId) && !isSynced(guildId));
      // One write for all of them.
      if (changed.length > 1) await synced.forget(changed.map(nameOf)).catch(() => undefined);
      await Promise.all(changed.map(run));
      await synced.save();
    },
    async closeSync(): Promise<void> {
      closing.abort();
      for (const { cancel } of retries.values()) cancel();
      await synced.save();
    },
  };
}

const nameOf = (guildId: string | null) => guildId ?? 'dm';
const scopeOf = (guildId: string | null): SlashScope => (guildId === null ? 'dm' : 'guild');
const isUnwritten = (error: unknown) => error instanceof CinnabarError && error.code === 'CINNABAR_STORAGE_WRITE';

/**
 * Computes the wanted list: once for all guilds with the same enabled plugins, until a command is added or removed. Most of many thousand guilds share one state,
 * for which the plugins are looked at once.
 */
function createWanted(
  registry: Registry,
  enabledIn: Dependencies['enabledIn'],
  choices: Dependencies['choices'],
  languages: () => Localizations,
): (guildId: string | null) => Wanted {
  let roots: readonly Entry[] | undefined;
  let byDefault: OwnerChoices | undefined;
  let owners: readonly Entry['owner'][] = [];
  let ofState = new WeakMap<GuildState, Wanted>();
  const known = new Map<string, Wanted>();

  const find = (guildId: string | null, current: readonly Entry[]): Wanted => {
    const scope = scopeOf(guildId);
    const off = owners.filter((owner) => !enabledIn(guildId, owner.plugin)).map(({ id }) => id);
    const key = [scope, ...off].join(' ');
    let found = known.get(key);
    if (found === undefined) {
      const fitted = fitCommands(
        current.filter(({ owner }) => !off.includes(owner.id)),
        scope,
        languages(),
      );
      found = { ...fitted, digest: digestOf(fitted.payloads) };
      known.set(key, found);
    }
    return found;
  };

  return (guildId) => {
    const current = registry.roots();
    if (current !== roots) {
      known.clear();
      owners = [...new Set(current.map(({ owner }) => owner))];
    }
    const ownerChoices = choices?.ofOwner();
    if (current !== roots || ownerChoices !== byDefault) ofState = new WeakMap();
    roots = current;
    byDefault = ownerChoices;
    const state = guildId === null ? undefined : choices?.ofGuild(guildId);
    if (state === undefined) return find(guildId, current);
    const found = ofState.get(state) ?? find(guildId, current);
    ofState.set(state, found);
    return found;
  };
}

const listed = z.array(
  z.looseObject({
    type: z.number().default(ApplicationCommandType.ChatInput),
    /** Absent for the global list. */
    guild_id: z.string().nullish(),
  }),
);
type Listed = z.output<typeof listed>;

/** One of Discord's lists of commands. */
interface RemoteCommands {
  readonly chatInput: Listed;
  /** Context menus and entry points: other programs own them, so they are kept. */
  readonly others: Listed;
}

/** Without this, Discord returns only the English texts. */
const WITH_LOCALIZATIONS = new URLSearchParams({ with_localizations: 'true' });

/** `null` is the global list. */
async function fetchCommands(client: Client<true>, guildId: string | null): Promise<RemoteCommands> {
  const found = listed.parse(await client.rest.get(routeOf(client, guildId), { query: WITH_LOCALIZATIONS }));
  // A list may contain commands of the other kind: sending them back would create a second copy of each.
  const all = found.filter(({ guild_id: of = null }) => of === guildId);
  const isChatInput = (one: Listed[number]) => one.type === ApplicationCommandType.ChatInput;
  return { chatInput: all.filter(isChatInput), others: all.filter((one) => !isChatInput(one)) };
}

/** Replaces the whole list in one request, so that there is no moment without commands. */
async function overwriteCommands(
  client: Client<true>,
  guildId: string | null,
  payloads: readonly CommandPayload[],
  others: Listed,
): Promise<void> {
  await client.rest.put(routeOf(client, guildId), { body: [...payloads, ...others] });
}

function routeOf(client: Client<true>, guildId: string | null): `/${string}` {
  const { id } = client.application;
  return guildId === null ? Routes.applicationCommands(id) : Routes.applicationGuildCommands(id, guildId);
}

/**
 * Runs `work` for one key at a time, a few keys at once. Calls for a key whose run has not begun share that run; a call during a run causes one more run after
 * it.
 * @param work must not reject
 */
function coalesced<K>(work: (key: K) => Promise<void>, concurrency: number): (key: K) => Promise<void> {
  const queue = new PQueue({ concurrency });
  const waiting = new Map<K, Promise<void>>();
  const running = new Map<K, Promise<void>>();

  const enqueue = async (key: K) => {
    await running.get(key);
    await queue.add(async () => {
      waiting.delete(key);
      const run = work(key);
      running.set(key, run);
      await run;
      running.delete(key);
    });
  };

  return (key) => {
    const run = waiting.get(key) ?? enqueue(key);
    waiting.set(key, run);
    return run;
  };
}

export const syncedListsSchema = z.object({
  /** By guild (`dm` for the global list): a digest of the list and, in guilds, when the bot joined. */
  lists: z.record(z.string(), z.string()).default({}),
  /** When each was last compared with Discord's, in ms. */
  comparedAt: z.record(z.string(), z.number()).default({}),
  /** The address of the Discord to which the lists belong. */
  api: z.string().optional(),
});
type Stored = z.output<typeof syncedListsSchema>;
export type SyncedListsDocument = Pick<Document<Stored>, 'find' | 'set'>;

const KNOWN_FOR_MS = 24 * 60 * 60_000;

/**
 * Remembers the content of Discord's lists of slash commands, so that a start without changes makes no requests. A list is remembered only after it was read or
 * sent completely. Before a list changes, its entry is removed on the disk, so that the list is read again after a crash. Entries that were compared more than
 * a day before the start are checked again, too: another program may have changed Discord's list, or this folder may come from a backup.
 * @param document where it is kept; in memory alone when left out
 * @param api the address of Discord
 */
function createSyncedLists(document: (() => SyncedListsDocument) | undefined, api: string, clock: Clock, log: Logger) {
  let opening: Promise<void> | undefined;
  const known = new Map<string, { readonly digest: string; readonly at: number }>();
  let changed = false;
  let writing: Promise<void> | undefined;

  const read = async () => {
    try {
      const stored = await document?.().find();
      // A local Discord starts empty, at another address.
      if (stored === undefined || (stored.api ?? api) !== api) return;
      const { lists, comparedAt } = stored;
      for (const [list, digest] of Object.entries(lists)) {
        const at = comparedAt[list] ?? Number.NEGATIVE_INFINITY;
        // A time in the future was stored before the clock was set back.
        const isRecent = Math.abs(clock.now() - at) < KNOWN_FOR_MS;
        // Values known by now are newer.
        if (isRecent && !known.has(list)) known.set(list, { digest, at });
      }
    } catch (error) {
      log.warn('what the lists of slash commands hold could not be read, so each is looked at', { error });
    }
  };
  const write = async () => {
    changed = false;
    const entries = [...known];
    await document?.().set({
      lists: Object.fromEntries(entries.map(([list, { digest }]) => [list, digest])),
      comparedAt: Object.fromEntries(entries.map(([list, { at }]) => [list, at])),
      api,
    });
  };
  /** Shares a write that has not begun. */
  const flush = async (): Promise<void> => {
    const before = writing;
    await before?.catch(() => undefined);
    if (writing === before) {
      const run = write().finally(() => {
        if (writing === run) writing = undefined;
      });
      writing = run;
    }
    await writing;
  };

  return {
    /** Reads the state of earlier runs. When that cannot be read, every list is checked. */
    open(): Promise<void> {
      opening ??= read();
      return opening;
    },
    holds: (list: string, digest: string): boolean => known.get(list)?.digest === digest,
    /** Resolves when it is on the disk. @throws CINNABAR_STORAGE_WRITE */
    async forget(lists: readonly string[]): Promise<void> {
      const gone = lists.filter((list) => known.delete(list));
      if (gone.length > 0) await flush();
    },
    note(list: string, digest: string): void {
      known.set(list, { digest, at: clock.now() });
      changed = true;
    },
    /** Writes the noted state. Never rejects: a list whose entry is lost is checked again. */
    async save(): Promise<void> {
      if (!changed) return;
      await flush().catch((error: unknown) => {
        changed = true;
        log.debug('what the lists of slash commands hold could not be saved', { error });
      });
    },
  };
}

/** A digest of commands as they are sent. */
function digestOf(commands: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(commands)).digest('base64url').slice(0, 22);
}

/** This many lists are synchronised without a pause, … */
const BURST = 30;
/** … and the others at this pace: the bot's answers share the limit of 50 requests a second, and the processor. */
const PAUSE_MS = 200;

/** Waits until the next list of slash commands may be synchronised. @returns `false` when the bot stops meanwhile */
export type SlashPace = (signal: AbortSignal) => Promise<boolean>;

function createSlashPace(clock: Clock): SlashPace {
  let next = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    const now = clock.now();
    next = Math.max(next, now - BURST * PAUSE_MS) + PAUSE_MS;
    return next <= now ? !signal.aborted : sleep(clock, next - now, signal);
  };
}

/** The limits that all hosts of a cluster share: a burst that refills slowly, so that it adds little to the pace, and the pace. */
const SPANS = [
  { name: 'slash-burst', lastsMs: 10 * BURST * PAUSE_MS, left: BURST },
  { name: 'slash-pace', lastsMs: 5 * PAUSE_MS, left: 5 },
] as const;
/** The database is unreachable. */
const RETRY_MS = 1_000;

/** Like `createPace`, for all hosts of a cluster together. */
export function createSharedSlashPace(limits: Pick<SharedLimits, 'take'>, clock: Clock, log: Logger): SlashPace {
  /** The time until which a span is used up, so that it is not requested in vain. */
  const emptyUntil = new Map<string, number>();
  const take = async (): Promise<boolean> => {
    for (const { name, ...span } of SPANS) {
      if (clock.now() < (emptyUntil.get(name) ?? 0)) continue;
      const { granted, endsInMs } = await limits.take(name, 1, span);
      if (granted > 0) return true;
      emptyUntil.set(name, clock.now() + endsInMs);
    }
    return false;
  };
  return async (signal) => {
    while (!signal.aborted) {
      try {
        if (await take()) return !signal.aborted;
      } catch (error) {
        log.debug('slash commands wait for the database, which all processes pace them by', { error });
        emptyUntil.set('slash-pace', clock.now() + RETRY_MS);
      }
      const waitMs = Math.min(...SPANS.map(({ name }) => emptyUntil.get(name) ?? 0)) - clock.now();
      await sleep(clock, Math.max(1, waitMs), signal);
    }
    return false;
  };
}
