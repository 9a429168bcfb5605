import type { Clock, Files, Logger } from '@cinnabar/sdk';
import { createSearch, type Search } from '../recall/search.js';
import { type Change, isEmpty } from '../table/change.js';
import { createTable, type Table } from '../table/table.js';
import { encodeVector } from '../table/vector.js';
import { changeSchema } from './change-schema.js';
import { copyAside, removeAll, removeCopiesWith } from './copies.js';

/** One mind's memories of one guild or direct message: in memory, and in a file that is only ever added to until it is worth writing anew. */
export interface Shard {
  readonly table: Table;
  readonly search: Search;
  /** Tasks that change something come one after another. */
  run<T>(task: () => Promise<T>): Promise<T>;
  /** Written, then done. Within `run`. */
  commit(change: Change): Promise<void>;
  /** Done, then written: what has to go is not told any more even when the disk fails. The file is soon written anew without it. Within `run`. */
  erase(change: Change): Promise<void>;
  /** Writes the file anew, so that nothing deleted is left in it. Within `run`. */
  rewrite(): Promise<void>;
  /** These were recalled; written with the next maintenance. */
  recalled(ids: readonly string[], at: number): void;
  /** Writes what is due. */
  maintain(): Promise<void>;
  /** Forgets everything and deletes the files. Within `run`. */
  wipe(): Promise<void>;
  /** Deletes copies of a damaged file that speak of somebody. Within `run`. */
  removeCopies(text: string): Promise<void>;
  /** Lets go of the file; the next change opens it again. */
  release(): Promise<void>;
}

interface Parts {
  readonly path: string;
  readonly files: Pick<Files, 'journal'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Asks for `maintain` in a while. */
  schedule(): void;
}

/** Lines beyond twice what is remembered at which a file is written anew. */
const SLACK_LINES = 1_000;

export async function openShard({ path, files, clock, log, schedule }: Parts): Promise<Shard> {
  const table = createTable();
  const search = createSearch(table);
  const seen = new Map<string, number>();
  let lines = 0;
  let tainted = false;
  let last: Promise<unknown> = Promise.resolve();

  const journal = files.journal(path, changeSchema);
  const { records, damaged, torn } = await journal.read();
  for (const change of records) {
    table.apply(change);
    lines++;
    tainted ||= (change.drop?.length ?? 0) > 0;
  }
  if (damaged > 0) {
    const copy = torn ? undefined : await copyAside(path, clock.now());
    log.warn('lines of a memory file could not be read and were passed over', { path, damaged, copy });
    tainted = true;
  }
  if (tainted) schedule();

  const write = async (change: Change) => {
    if (isEmpty(change)) return;
    try {
      await journal.append(change);
      lines++;
    } catch (error) {
      // What was erased in memory although it could not be written has to go from the file, too.
      tainted = true;
      schedule();
      throw error;
    }
    if (lines > 2 * table.size + SLACK_LINES) schedule();
  };

  const rewrite = async () => {
    seen.clear();
    const snapshot = [...snapshotOf(table)];
    await journal.rewrite(snapshot);
    lines = snapshot.length;
    tainted = false;
  };

  const run = <T>(task: () => Promise<T>): Promise<T> => {
    const mine = last.then(task, task);
    last = mine.catch(() => undefined);
    return mine;
  };

  return {
    table,
    search,
    run,
    async commit(change) {
      await write(change);
      table.apply(change);
    },
    async erase(change) {
      table.apply(change);
      if ((change.drop?.length ?? 0) > 0) {
        tainted = true;
        schedule();
      }
      await write(change);
    },
    rewrite,
    recalled(ids, at) {
      table.apply({ seen: ids.map((id) => [id, at] as const) });
      for (const id of ids) seen.set(id, at);
      schedule();
    },
    maintain: () =>
      run(async () => {
        if (tainted || lines > 2 * table.size + SLACK_LINES) return rewrite();
        const due = [...seen].filter(([id]) => table.get(id) !== undefined);
        seen.clear();
        await write({ seen: due });
      }),
    async wipe() {
      table.apply({ drop: [...table.all()].map(({ id }) => id) });
      await journal.release();
      await removeAll(path);
      lines = 0;
      tainted = false;
    },
    removeCopies: (text) => removeCopiesWith(path, text),
    release: () => journal.release(),
  };
}

/** All that the table holds, as changes to an empty one. */
function* snapshotOf(table: Table): Generator<Change> {
  const pending = new Set(table.pending().map(({ id }) => id));
  for (const memory of table.all()) if (!pending.has(memory.id)) yield { put: [memory] };
  yield { reflected: 'all' };
  for (const memory of table.pending()) yield { put: [memory] };
  for (const { id } of table.all()) {
    const vector = table.vector(id);
    if (vector !== undefined) yield { vectors: [[id, encodeVector([...vector])]] };
  }
}
