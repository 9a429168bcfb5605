import { createHash } from 'node:crypto';
import { CinnabarError, type Clock, type Document, isTransient, type Logger, sleep, z } from '@cinnabar/sdk';
import { ApplicationCommandType, type Client, Routes } from 'discord.js';
import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import type { SharedLimits } from '../cluster/limits.js';
import type { GuildState, OwnerChoices } from '../contracts.js';
import { HOST_VERSION } from '../version.js';
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
interface Wanted {
  /** A digest of the content. To be called after the state of earlier runs was read. */
  digest(): string;
  /** Built at the first call: most starts need the digest only. */
  content(): Fitted;
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
  const wantedIn = createWanted(registry, enabledIn, choices, languages, synced.digestFrom);

  const warnOnce = (error: CinnabarError) => {
    if (warned.has(error.message)) return;
    warned.set(error.message, true);
    log.warn(error.message, { code: error.code });
  };
  /** When the bot joined a guild, in ms since 1970: a guild that it left and joined again has a new list. */
  const joinedAt = (guildId: string | null) =>
    (guildId === null ? undefined : client.guilds.cache.get(guildId)?.joinedTimestamp) ?? 0;
  const isSynced = (guildId: string | null) =>
    synced.holds(nameOf(guildId), wantedIn(guildId).digest(), joinedAt(guildId));

  let noted = 0;
  const bringInLine = async (guildId: string | null) => {
    if (!owns(guildId)) return;
    await synced.open();
    if (!client.isReady() || isSynced(guildId) || !(await pace(closing.signal))) return;
    const wanted = wantedIn(guildId);
    const { payloads, overflow } = wanted.content();
    overflow.forEach(warnOnce);
    const { chatInput, others } = await fetchCommands(client, guildId);
    const changes = [
      ...commandDifferences(
        chatInput.map((command) => normalise(command, scopeOf(guildId))),
        payloads.map((command) => normalise(command, scopeOf(guildId))),
      ),
    ];
    if (changes.length > 0) {
      await synced.forget([nameOf(guildId)]);
      await overwriteCommands(client, guildId, payloads, others);
      log.info('slash commands updated', { guildId, changes });
    }
    synced.note(nameOf(guildId), wanted.digest(), joinedAt(guildId));
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
    prepareSync(): void {
      wantedIn(null);
      // The list of a guild without a stored state, which most guilds are.
      wantedIn('');
    },
    async sync(guildId: string | null, isNew = false): Promise<void> {
      if (isNew) await synced.forget([nameOf(guildId)]);
      await syncOne(guildId);
    },
    async syncAll(): Promise<void> {
      if (!client.isReady()) return;
      await synced.open();
      const changed = [null, ...client.guilds.cache.keys()].filter((guildId) => owns(guildId) && !isSynced(guildId));
      // Removes all of them with one write.
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
 * Computes the wanted list: once for all guilds with the same enabled plugins, until a command is added or removed. Most of many thousand guilds share one
 * state object, for which the enabled plugins are determined once.
 * @param digestFrom see `createSyncedLists`
 */
function createWanted(
  registry: Registry,
  enabledIn: Dependencies['enabledIn'],
  choices: Dependencies['choices'],
  languages: Dependencies['languages'],
  digestFrom: (source: string, build: () => string) => string,
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
      const commands = current.filter(({ owner }) => !off.includes(owner.id));
      let fitted: Fitted | undefined;
      let digest: string | undefined;
      const content = () => {
        fitted ??= fitCommands(commands, scope, languages.forDiscord());
        return fitted;
      };
      // The content depends on nothing but the English commands, the catalogues and the host's code.
      const source = digestOf([HOST_VERSION, languages.digestForDiscord(), fitCommands(commands, scope).payloads]);
      found = {
        content,
        digest() {
          digest ??= digestFrom(source, () => digestOf(content().payloads));
          return digest;
        },
      };
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
  /** Context menus and entry points, which other programs own. They are kept. */
  readonly others: Listed;
}

/** Without this, Discord returns only the English texts. */
const WITH_LOCALIZATIONS = new URLSearchParams({ with_localizations: 'true' });

/** `null` is the global list. */
async function fetchCommands(client: Client<true>, guildId: string | null): Promise<RemoteCommands> {
  const found = listed.parse(await client.rest.get(routeOf(client, guildId), { query: WITH_LOCALIZATIONS }));
  // The answer may contain commands of the other scope, global or guild. Sending them back would create a second copy of each.
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
  /** Lists with the same content that were compared with Discord's in the same hour. */
  groups: z
    .array(
      z.object({
        digest: z.string(),
        comparedAtMs: z.number(),
        /** Of each list its guild (`dm` for the global list) and when the bot joined it, in ms: one text, since many thousand keys take long to read. */
        lists: z.string(),
      }),
    )
    .default([]),
  /** The digests of lists by the digests of their sources, so that a start without changes builds no list. */
  digests: z.record(z.string(), z.string()).default({}),
  /** The address of the Discord to which the lists belong. */
  api: z.string().optional(),
});
type Stored = z.output<typeof syncedListsSchema>;
export type SyncedListsDocument = Pick<Document<Stored>, 'find' | 'set'>;

const HOUR_MS = 60 * 60_000;
const KNOWN_FOR_MS = 24 * HOUR_MS;

interface KnownList {
  readonly digest: string;
  readonly joinedAt: number;
  readonly comparedAt: number;
}

/**
 * Stores digests of Discord's lists of slash commands, so that a start without changes makes no requests. A digest is stored only after the list was read or
 * sent completely. Before a list changes, its entry is removed on the disk, so that the list is read again after a crash. Entries that were compared more than
 * a day before the start are checked again, too: another program may have changed Discord's list, or this folder may come from a backup.
 * @param document the stored state; in memory alone when left out
 * @param api the address of Discord
 */
function createSyncedLists(document: (() => SyncedListsDocument) | undefined, api: string, clock: Clock, log: Logger) {
  let opening: Promise<void> | undefined;
  const known = new Map<string, KnownList>();
  let earlierDigests: Readonly<Record<string, string>> = {};
  /** Those of `earlierDigests` that this run uses, and new ones: unused ones are not stored again. */
  const digests = new Map<string, string>();
  let changed = false;
  let writing: Promise<void> | undefined;

  const read = async () => {
    try {
      const stored = await document?.().find();
      // A local Discord has another address with each start, and begins without commands.
      if (stored === undefined || (stored.api ?? api) !== api) return;
      earlierDigests = stored.digests;
      for (const { digest, comparedAtMs: comparedAt, lists } of stored.groups) {
        // A time in the future was stored before the clock was set back.
        if (Math.abs(clock.now() - comparedAt) >= KNOWN_FOR_MS) continue;
        const fields = lists.split(' ');
        for (let index = 0; index < fields.length; index += 2) {
          const [list = '', joinedAt = ''] = [fields[index], fields[index + 1]];
          // Entries that are in memory already are newer.
          if (!known.has(list)) known.set(list, { digest, joinedAt: Number(joinedAt), comparedAt });
        }
      }
    } catch (error) {
      log.warn('what the lists of slash commands hold could not be read, so each is looked at', { error });
    }
  };
  const write = async () => {
    changed = false;
    const groups = new Map<string, { readonly digest: string; readonly comparedAtMs: number; lists: string }>();
    for (const [list, { digest, joinedAt, comparedAt }] of known) {
      const comparedAtMs = comparedAt - (comparedAt % HOUR_MS);
      const key = `${digest} ${comparedAtMs}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { digest, comparedAtMs, lists: `${list} ${joinedAt}` });
      else group.lists += ` ${list} ${joinedAt}`;
    }
    await document?.().set({
      groups: [...groups.values()],
      digests: Object.fromEntries(digests),
      api,
    });
  };
  /** Writes the state. Calls during a write share one write after it. */
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
    /** The digest of a list, by the digest of its source. Calls `build` only when no stored digest exists. */
    digestFrom(source: string, build: () => string): string {
      const known = digests.get(source) ?? earlierDigests[source];
      const digest = known ?? build();
      if (known === undefined) changed = true;
      digests.set(source, digest);
      return digest;
    },
    holds(list: string, digest: string, joinedAt: number): boolean {
      const before = known.get(list);
      return before?.digest === digest && before.joinedAt === joinedAt;
    },
    /** Removes the entries of lists, and resolves when this is on the disk. @throws CINNABAR_STORAGE_WRITE */
    async forget(lists: readonly string[]): Promise<void> {
      const gone = lists.filter((list) => known.delete(list));
      if (gone.length > 0) await flush();
    },
    note(list: string, digest: string, joinedAt: number): void {
      known.set(list, { digest, joinedAt, comparedAt: clock.now() });
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

function digestOf(values: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 22);
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
/** Pause while the database is unreachable. */
const RETRY_MS = 1_000;

/** Like `createSlashPace`, for all hosts of a cluster together. */
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
