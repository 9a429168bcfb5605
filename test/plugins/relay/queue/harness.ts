import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Batch, Delivery, RelayEvent } from '@cinnabar/plugin-relay/dist/events/event.js';
import { createBreakers, type Failure } from '@cinnabar/plugin-relay/dist/queue/attempts.js';
import { createDispatcher, type ServeResult, type Stall } from '@cinnabar/plugin-relay/dist/queue/dispatcher.js';
import {
  type EnqueueResult,
  openRelayQueue,
  type QueueRules,
  type RelayQueue,
  type RelayQueueOptions,
} from '@cinnabar/plugin-relay/dist/queue/queue.js';
import { createQueueJournal, type QueueRecord, type QueueStore } from '@cinnabar/plugin-relay/dist/queue/state.js';
import type { Clock, Random } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { type Folder, makeFolder } from '../../../support/folder.js';
import { recordingLogger } from '../../../support/logs.js';
import { queueFile } from '../../../support/queue-file.js';
import { type SteppedClock, steppedClock } from './stepped-clock.js';

export const DONE: Delivery = { status: 'done', posted: true, tokens: 10, steps: 1 };
export const FAILED: Delivery = { status: 'failed', retry: true, sentence: 'It failed.', error: new Error('no') };
export const REFUSED: Delivery = { status: 'failed', retry: false, sentence: 'It refused.', error: new Error('no') };

/** A delivery attempt, as the agent received it. */
export interface DeliveredBatch {
  readonly key: string;
  readonly channelId: string;
  readonly agent: string;
  readonly ids: readonly string[];
  readonly events: Batch;
  readonly from: number;
  /** `undefined` while it runs. */
  to: number | undefined;
  /** `undefined` also when it was interrupted. */
  delivery: Delivery | undefined;
  /** The number of the process, from 0. */
  readonly life: number;
}

export interface QueueHarnessOptions {
  readonly latencyMs?: number;
  /** Deliveries continue after an abort. */
  readonly isDeaf?: boolean;
  /** The result of an attempt; default: done. */
  readonly answer?: (batch: Batch, key: string) => Delivery | { readonly after: number; readonly delivery: Delivery };
  readonly rules?: (guildId: string | null, channelId: string) => Partial<QueueRules>;
  readonly queue?: Partial<RelayQueueOptions>;
}

/** A queue on a simulated clock with its real journal, and agents that take time. It can crash and restart. */
export interface QueueHarness extends AsyncDisposable {
  readonly clock: SteppedClock;
  readonly queue: RelayQueue;
  /** Offers events one after another, without waiting between them. */
  offer(...events: readonly RelayEvent[]): Promise<readonly EnqueueResult[]>;
  readonly told: readonly DeliveredBatch[];
  readonly failures: readonly Failure[];
  readonly drops: readonly { readonly guildId: string | null; readonly count: number }[];
  readonly journal: string;
  /** Waits until all work is done that does not need time to pass. */
  quiet(): Promise<void>;
  /** Waits for a condition that needs neither time to pass nor another caller. */
  until(isSo: () => boolean): Promise<void>;
  /** Advances the time. */
  pass(ms: number): Promise<void>;
  /** Advances the time until no event waits or is being delivered. */
  drain(): Promise<void>;
  /** Kills the process during its work, and starts another one with the data on the disk. */
  crash(torn?: string): Promise<void>;
}

/** A process; its work has no effect after it is killed. */
interface Life {
  alive: boolean;
  pending: number;
  folder: Folder;
  queue: RelayQueue;
}

/** The real queue with its journal in a folder. `watch` wraps the store between the two. */
export function openQueueIn(
  folder: string,
  { clock, log, ...parts }: Omit<RelayQueueOptions, 'store' | 'breakers'> & Partial<RelayQueueOptions>,
  watch: (store: QueueStore) => QueueStore = (store) => store,
): Promise<RelayQueue> {
  const store = watch(createQueueJournal(queueFile(folder), clock, log));
  return openRelayQueue({ clock, log, store, breakers: createBreakers(clock, log), ...parts });
}

/** The journal alone, not loaded yet. */
export function journalIn(folder: string) {
  const log = recordingLogger();
  return { log, journal: createQueueJournal(queueFile(folder), createManualClock(), log) };
}

/** A loaded journal with what the queue would hold. */
export async function openJournalIn(folder: string) {
  const { log, journal } = journalIn(folder);
  const kept: QueueRecord[] = [];
  const loaded = await journal.load(() => kept);
  return {
    log,
    loaded,
    journal,
    kept,
    write(record: QueueRecord) {
      kept.push(record);
      return journal.append(record);
    },
    text: () => readFileSync(join(folder, 'queue.jsonl'), 'utf8'),
  };
}

export async function openQueueHarness(options: QueueHarnessOptions = {}): Promise<QueueHarness> {
  const clock = steppedClock();
  const told: DeliveredBatch[] = [];
  const failures: Failure[] = [];
  const drops: { guildId: string | null; count: number }[] = [];
  const random = countingRandom();
  /** The guilds of every event that was ever offered, also to a process that has crashed. */
  const guilds = new Set<string | null>();
  const folders: Folder[] = [];
  const journals: QueueStore[] = [];

  const live = async (): Promise<Life> => {
    const folder = makeFolder();
    const before = folders.at(-1);
    folders.push(folder);
    if (before !== undefined) writeFileSync(pathIn(folder), textIn(before));
    const life = { alive: true, pending: 0, folder };
    const ownClock: Clock = { now: clock.now, after: (ms, task) => clock.after(ms, () => life.alive && task()) };
    const deliver = (batch: Batch, key: string, signal: AbortSignal) =>
      new Promise<Delivery>((resolve) => {
        if (!life.alive) return;
        const [{ channelId, agent }] = batch;
        const ids = batch.map(({ id }) => id);
        const attempt: DeliveredBatch = {
          key,
          channelId,
          agent,
          ids,
          events: batch,
          from: clock.now(),
          to: undefined,
          delivery: undefined,
          life: folders.length - 1,
        };
        told.push(attempt);
        const planned = options.answer?.(batch, key) ?? DONE;
        const { after, delivery } =
          'after' in planned ? planned : { after: options.latencyMs ?? 200, delivery: planned };
        const cancel = ownClock.after(after, () => {
          attempt.to = clock.now();
          attempt.delivery = delivery;
          resolve(delivery);
        });
        signal.addEventListener('abort', () => {
          if (options.isDeaf) return;
          cancel();
          resolve(FAILED);
        });
      });
    const parts = {
      rulesFor: async (guildId: string | null, channelId: string) => ({
        ...FREE,
        ...options.rules?.(guildId, channelId),
      }),
      agentFor: async ({ guildId, agent }: RelayEvent) => `${guildId}/${agent}`,
      clock: ownClock,
      random,
      log: recordingLogger(),
      bound: () => ({ total: 1_000, perGuild: 1_000 }),
      mostTogether: 1,
      onDropped: (drop: (typeof drops)[number]) => drops.push(drop),
      onFailed: (failure: Failure) => failures.push(failure),
      ...options.queue,
      deliver,
    };
    const queue = await openQueueIn(folder.path, parts, (journal) => {
      journals.push(journal);
      return watched(journal, life);
    });
    const enqueue: RelayQueue['enqueue'] = (event) => {
      guilds.add(event.guildId);
      return queue.enqueue(event);
    };
    return Object.assign(life, { queue: { ...queue, enqueue } });
  };

  let life = await live();

  const quiet = async () => {
    for (let still = 0; still < 2; still += 1) {
      await setImmediate();
      if (life.pending > 0) still = -1;
    }
  };
  const pass = async (ms: number) => {
    const until = clock.now() + ms;
    await quiet();
    for (let next = clock.next; next !== undefined && next <= until; next = clock.next) {
      clock.moveTo(next);
      await quiet();
    }
    clock.moveTo(until);
  };
  const isBusy = async () => {
    const all = await Promise.all([...guilds].map((guild) => life.queue.status(guild)));
    return all.some(({ waiting, sending }) => waiting.length + sending.length > 0);
  };

  return {
    clock,
    told,
    failures,
    drops,
    get queue() {
      return life.queue;
    },
    get journal() {
      return textIn(life.folder);
    },
    async offer(...events) {
      const offers = await Promise.all(events.map((event) => life.queue.enqueue(event)));
      await quiet();
      return offers;
    },
    quiet,
    async until(isSo) {
      while (!isSo()) await setImmediate();
    },
    pass,
    async drain() {
      await quiet();
      for (let next = clock.next; next !== undefined && (await isBusy()); next = clock.next) {
        clock.moveTo(next);
        await quiet();
      }
    },
    async crash(torn = '') {
      life.alive = false;
      for (const attempt of told) attempt.to ??= clock.now();
      const { folder } = life;
      folder.write('queue.jsonl', textIn(folder) + torn);
      life = await live();
    },
    async [Symbol.asyncDispose]() {
      await quiet();
      await life.queue.stop();
      // The operating system closes the files of a dead process.
      for (const journal of journals.slice(0, -1)) await journal.close();
      for (const folder of folders) folder[Symbol.dispose]();
    },
  };
}

/** The end of an attempt. */
type AttemptEnd = 'ends' | 'hangs' | 'throws' | 'waits for a wake-up';

/** The dispatcher alone, with a number of events for each channel. */
export function startDispatcher(limitMs: number, outcome: (channelId: string) => AttemptEnd = () => 'ends') {
  const clock = createManualClock();
  const events = new Map<string, number>();
  const hanging = new Map<string, () => void>();
  const stalls: Stall[] = [];
  let [serving, most] = [0, 0];
  const serve = async (channelId: string): Promise<ServeResult> => {
    serving += 1;
    most = Math.max(most, serving);
    try {
      if ((events.get(channelId) ?? 0) === 0) return { is: 'idle' };
      const what = outcome(channelId);
      if (what === 'throws') throw new Error('settings cannot be read');
      if (what === 'waits for a wake-up') return { is: 'wait', until: Number.POSITIVE_INFINITY };
      if (what === 'hangs') await new Promise<void>((resolve) => hanging.set(channelId, resolve));
      else events.set(channelId, (events.get(channelId) ?? 0) - 1);
      return { is: 'attempted' };
    } finally {
      serving -= 1;
    }
  };
  const dispatcher = createDispatcher({
    clock,
    log: recordingLogger(),
    bound: () => ({ total: 3, perGuild: 2 }),
    serve,
    guildOf: (channelId) => ((events.get(channelId) ?? 0) > 0 ? channelId.slice(0, 1) : undefined),
    channels: () => [...events].filter(([, count]) => count > 0).map(([channelId]) => channelId),
    limitMs: () => limitMs,
    interrupt: (channelId) => hanging.get(channelId)?.(),
    onStall: (stall) => stalls.push(stall),
  });
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 10_000) {
      clock.advance(Math.min(left, 10_000));
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    }
  };
  return {
    clock,
    dispatcher,
    stalls,
    pass,
    add: (channelId: string) => events.set(channelId, (events.get(channelId) ?? 0) + 1),
    left: () => [...events.values()].reduce((sum, count) => sum + count, 0),
    most: () => most,
  };
}

/** Rules without limits. */
const FREE: QueueRules = { rateLimitMs: 0, maxQueueSize: 1_000, whenFull: 'refuse-newest', paused: false };

const pathIn = (folder: Folder) => join(folder.path, 'queue.jsonl');

function textIn(folder: Folder): string {
  return existsSync(pathIn(folder)) ? readFileSync(pathIn(folder), 'utf8') : '';
}

/** The store, with a counter of unfinished operations. */
function watched(store: QueueStore, life: { pending: number }): QueueStore {
  const counted = async <T>(task: Promise<T>): Promise<T> => {
    life.pending += 1;
    try {
      return await task;
    } finally {
      life.pending -= 1;
    }
  };
  return {
    load: (snapshot) => store.load(snapshot),
    append: (record) => counted(store.append(record)),
    compact: () => counted(store.compact()),
    close: () => counted(store.close()),
  };
}

function countingRandom(): Random {
  let ids = 0;
  return { next: () => 0, id: () => `key-${++ids}` };
}

/** An event. @param id the id of its message @param place `guild/channel`, or `@user` for a direct message */
export function event(id: string, place = 'town/general', more: Partial<RelayEvent> = {}): RelayEvent {
  const [guildId, channelId] = place.startsWith('@') ? [null, place] : [place.split('/')[0] ?? place, place];
  return {
    id,
    kind: guildId === null ? 'dm' : 'mention',
    agent: 'aurora',
    guildId,
    channelId,
    userId: 'alice',
    facts: {
      at: 0,
      author: { id: 'alice', username: 'alice', displayName: 'Alice', roles: [], isBot: false },
      channel: { id: channelId, name: channelId, type: guildId === null ? 'dm' : 'text' },
      guild: guildId === null ? null : { id: guildId, name: guildId },
      messageId: id,
      content: `text of ${id}`,
      chain: [],
      attachments: [],
    },
    ...more,
  };
}

/** `count` events of a place, named after it. */
export function events(count: number, place = 'town/general', more: Partial<RelayEvent> = {}): readonly RelayEvent[] {
  return Array.from({ length: count }, (_, number) => event(`${place}#${number}`, place, more));
}
