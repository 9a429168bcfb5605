import { readdir } from 'node:fs/promises';
import { openJournal, z } from '@cinnabar/sdk';
import type { TestDatabase } from '../../../support/postgres.js';

/** The current content of the queue's journal. */
export interface JournalView {
  /** Ids of all events in it. */
  readonly taken: readonly string[];
  /** Ids of unfinished events. */
  readonly open: readonly string[];
}

/** A line of the journal, as far as it says what has become of events. */
const queueRecord = z.discriminatedUnion('is', [
  z.object({ is: z.literal('taken'), n: z.number(), event: z.object({ id: z.string() }) }),
  z.object({ is: z.literal('sent'), key: z.string(), of: z.array(z.number()) }),
  z.object({ is: z.literal('ended'), key: z.string() }),
  z.object({ is: z.literal('dropped'), of: z.array(z.number()) }),
  z.object({ is: z.literal('known'), ids: z.array(z.string()) }),
]);
type QueueRecord = z.output<typeof queueRecord>;

export const readJournalFile = async (path: string): Promise<JournalView> =>
  viewOf((await openJournal(path, queueRecord).read()).records);

/** The same for a journal in a database. */
export async function readJournalTable({ query, schema }: TestDatabase): Promise<JournalView> {
  const lines = await query(`SELECT line FROM ${schema}.journal_lines WHERE path LIKE 'relay/queue%' ORDER BY id`);
  return viewOf(lines.map(({ line }) => queueRecord.parse(JSON.parse(String(line)))));
}

function viewOf(records: readonly QueueRecord[]): JournalView {
  const taken = new Set<string>();
  const open = new Map<number, string>();
  const sent = new Map<string, readonly number[]>();
  const close = (numbers: readonly number[] = []) => {
    for (const n of numbers) open.delete(n);
  };
  for (const record of records) {
    if (record.is === 'taken') {
      taken.add(record.event.id);
      open.set(record.n, record.event.id);
    } else if (record.is === 'sent') sent.set(record.key, record.of);
    else if (record.is === 'ended') close(sent.get(record.key));
    else if (record.is === 'dropped') close(record.of);
    else for (const id of record.ids) taken.add(id);
  }
  return { taken: [...taken], open: [...open.values()] };
}

/** Number of cards that wait for a decision, or to be shown as ended. @param folder of the cards of `confirm` */
export async function countCardFiles(folder: string): Promise<number> {
  return (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json')).length;
}

export async function countCardRows({ query, schema }: TestDatabase): Promise<number> {
  return (await query(`SELECT FROM ${schema}.documents WHERE path LIKE 'confirm/collections/global/cards/%'`)).length;
}
