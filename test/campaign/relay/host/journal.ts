import { readdir } from 'node:fs/promises';
import { createQueueState, type QueueRecord, queueRecord } from '@cinnabar/plugin-relay/dist/queue/state.js';
import { openJournal } from '@cinnabar/sdk';
import type { TestDatabase } from '../../../support/postgres.js';

/** What the queue's journal says at this moment. */
export interface JournalView {
  /** Ids of all events that it knows of. */
  readonly taken: readonly string[];
  /** Ids of those that are not done. */
  readonly open: readonly string[];
}

export const readJournalFile = async (path: string): Promise<JournalView> =>
  viewOf((await openJournal(path, queueRecord).read()).records);

/** The same, where the bot keeps it in a database. */
export async function readJournalTable({ query, schema }: TestDatabase): Promise<JournalView> {
  const lines = await query(`SELECT line FROM ${schema}.journal_lines WHERE path LIKE 'relay/queue%' ORDER BY id`);
  return viewOf(lines.map(({ line }) => queueRecord.parse(JSON.parse(String(line)))));
}

function viewOf(records: readonly QueueRecord[]): JournalView {
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
export async function countCardFiles(folder: string): Promise<number> {
  return (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json')).length;
}

export async function countCardRows({ query, schema }: TestDatabase): Promise<number> {
  return (await query(`SELECT FROM ${schema}.documents WHERE path LIKE 'confirm/collections/global/cards/%'`)).length;
}
