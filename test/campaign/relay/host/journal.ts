import { readdir } from 'node:fs/promises';
import { createQueueState, queueRecord } from '@cinnabar/plugin-relay/dist/queue/state.js';
import { openJournal } from '@cinnabar/sdk';

/** What the queue's journal says at this moment. */
export interface JournalView {
  /** Ids of all events that it knows of. */
  readonly taken: readonly string[];
  /** Ids of those that are not done. */
  readonly open: readonly string[];
}

export async function readJournal(path: string): Promise<JournalView> {
  const { records } = await openJournal(path, queueRecord).read();
  const state = createQueueState();
  for (const record of records) state.apply(record);
  const taken = records.flatMap((record) => {
    if (record.is === 'taken') return [record.event.id];
    return record.is === 'known' ? record.ids : [];
  });
  const open = [...state.channels()].flatMap(({ inFlight, waiting }) =>
    [...inFlight.flatMap(({ entries }) => entries), ...waiting].map(({ event }) => event.id),
  );
  return { taken, open };
}

/** How many cards wait for a decision, or to be shown as over. @param folder where `confirm` keeps them */
export async function countOpenCards(folder: string): Promise<number> {
  return (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json')).length;
}
