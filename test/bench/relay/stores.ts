import { createFileDriver } from '@cinnabar/core';
import { createQueueJournal, createQueueState, type QueueRecord } from '@cinnabar/plugin-relay/dist/queue/state.js';
import { z } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { opener, storageOn } from '../../core/storage/fixture.js';
import { events } from '../../plugins/relay/queue/harness.js';
import { makeFolder } from '../../support/folder.js';
import { recordingLogger } from '../../support/logs.js';
import { queueFile } from '../../support/queue-file.js';

const ROUNDS = 200;
/** How many wait meanwhile. */
const WAITING = 20;

/** What it costs to write down that an event was taken, sent and done, each on the disk before the next, in milliseconds. */
export async function journalMs(): Promise<number> {
  using folder = makeFolder();
  const state = createQueueState();
  const journal = createQueueJournal(queueFile(folder.path), createManualClock(), recordingLogger());
  await journal.load(state.snapshot);
  const write = (record: QueueRecord) => {
    state.apply(record);
    return journal.append(record);
  };
  const all = events(ROUNDS + WAITING);
  const waiting = all.slice(0, WAITING).map((event) => write({ is: 'taken', n: state.next(), at: 0, event }));
  await Promise.all(waiting);
  const startedAt = performance.now();
  for (const event of all.slice(WAITING)) {
    const n = state.next();
    await write({ is: 'taken', n, at: 0, event });
    await write({ is: 'sent', key: event.id, of: [n], attempt: 1, failures: 0 });
    await write({ is: 'ended', key: event.id });
  }
  const ms = (performance.now() - startedAt) / ROUNDS;
  await journal.close();
  return ms;
}

/** The same in a collection of the host's own storage, with a document for a guild's queue. It is not synced to the disk. */
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
