import type { Change } from '../table/change.js';
import { stands } from '../table/order.js';
import type { Table } from '../table/table.js';
import type { Memory } from '../types.js';
import { historyOf } from './remove.js';

const HOUR_MS = 3_600_000;
/** Per hour since it was last recalled. */
const DECAY = 0.995;
/** What does not stand is history: the first to be forgotten. */
const HISTORY_WORTH = 0.1;
/** A little more at a time than is necessary, so that not every addition has to look for what to forget. */
const MORE = 0.01;

/** At least 0, at most 1. */
export const recencyOf = ({ lastAccess }: Memory, now: number): number =>
  DECAY ** (Math.max(0, now - lastAccess) / HOUR_MS);

/** What has to go when there is more than fits: the least important of what was not recalled for longest. */
export function forgetLeast(table: Table, capacity: number, now: number): Change | undefined {
  if (table.size <= capacity) return undefined;
  const count = table.size - capacity + Math.floor(capacity * MORE);
  const worth = (memory: Memory) =>
    (memory.importance / 10) * recencyOf(memory, now) * (stands(memory) ? 1 : HISTORY_WORTH);
  const least = [...table.all()]
    .map((memory) => ({ memory, worth: worth(memory) }))
    .sort((one, other) => one.worth - other.worth)
    .slice(0, count);
  const drop = new Set<string>();
  for (const { memory } of least) {
    drop.add(memory.id);
    // What it took the place of must not come back.
    for (const { id } of historyOf(table, memory.id)) drop.add(id);
  }
  return { drop: [...drop] };
}
