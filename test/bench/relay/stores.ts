import { createFileDriver } from '@cinnabar/core';
import { z } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { opener, storageOn } from '../../core/storage/fixture.js';
import { DONE, events, openQueueIn } from '../../plugins/relay/queue/harness.js';
import { makeFolder } from '../../support/folder.js';
import { recordingLogger } from '../../support/logs.js';

const ROUNDS = 200;
/** Number of events that wait meanwhile. */
const WAITING = 20;

/** The duration, in ms, of recording that an event was taken, sent and done, each synced to the disk before the next one. */
export async function journalMs(): Promise<number> {
  using folder = makeFolder();
  let onEnd: () => void = () => undefined;
  const queue = await openQueueIn(
    folder.path,
    {
      rulesFor: async (guildId) => ({
        rateLimitMs: 0,
        maxQueueSize: 1_000,
        whenFull: 'refuse-newest',
        paused: guildId === 'asleep',
      }),
      agentFor: async () => 'aurora',
      deliver: async () => DONE,
      clock: createManualClock(),
      random: { next: () => 0, id: countingId() },
      log: recordingLogger(),
      bound: () => ({ total: 1, perGuild: 1 }),
      mostTogether: 1,
      onDropped: () => undefined,
      onFailed: () => undefined,
    },
    (store) => ({
      ...store,
      async append(record) {
        await store.append(record);
        if (record.is === 'ended') onEnd();
      },
    }),
  );
  await Promise.all(events(WAITING, 'asleep/general').map(queue.enqueue));
  const startedAt = performance.now();
  for (const event of events(ROUNDS)) {
    const ended = new Promise<void>((resolve) => {
      onEnd = resolve;
    });
    await queue.enqueue(event);
    await ended;
  }
  const ms = (performance.now() - startedAt) / ROUNDS;
  await queue.stop();
  return ms;
}

function countingId(): () => string {
  let ids = 0;
  return () => `key-${++ids}`;
}

/** The same in a collection of the host's storage, with a document for a guild's queue. It is not synced to the disk. */
export async function documentMs(): Promise<number> {
  using folder = makeFolder();
  const log = recordingLogger();
  const storage = storageOn(
    createFileDriver({ root: folder.path, journals: folder.path, clock: createManualClock(), log }),
  );
  const entry = z.object({ event: z.unknown(), id: z.string(), sent: z.string().nullable() });
  const schema = z.object({ entries: z.array(entry).default([]) });
  const { queues } = opener(storage).open({
    id: 'relay',
    collections: { queues: { scope: 'guild', schema, version: 1 } },
  }).collections;
  const queue = queues.of('1');
  const all = events(ROUNDS + WAITING).map((event) => ({ event, id: event.id, sent: null }));
  await queue.set({ entries: all.slice(0, WAITING) });
  const startedAt = performance.now();
  for (const one of all.slice(WAITING)) {
    await queue.update(({ entries }) => entries.push(one));
    await queue.update((draft) => {
      draft.entries = draft.entries.map((each) => (each.id === one.id ? { ...each, sent: one.id } : each));
    });
    await queue.update((draft) => {
      draft.entries = draft.entries.filter(({ id }) => id !== one.id);
    });
  }
  return (performance.now() - startedAt) / ROUNDS;
}
