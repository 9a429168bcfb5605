import type { Change } from '../table/change.js';
import { byTime, isLater } from '../table/order.js';
import type { Table } from '../table/table.js';
import type { Memory } from '../types.js';

/**
 * Takes memories back as though they had never been said. What rests on them goes with them; what they took the place of stands again, unless
 * something else that stays has taken its place as well; and of those that said the same, the latest speaks for all.
 */
export function unsay(table: Table, ids: Iterable<string>): Change {
  const going = withResting(table, ids);
  const changed = new Map<string, Memory>();
  const amend = (memory: Memory, links: Partial<Pick<Memory, 'supersededBy' | 'duplicateOf'>>) =>
    changed.set(memory.id, { ...(changed.get(memory.id) ?? memory), ...links });
  const staying = (memories: readonly Memory[]) => memories.filter(({ id }) => !going.has(id));

  const heirOf = (id: string) => [...staying(table.duplicatesOf(id))].sort(byTime).at(-1);
  /** What stands where a memory that goes stood, if it came later than `other`. */
  const placeTaker = (id: string, other: Memory): string | null => {
    const heir = heirOf(id);
    if (heir !== undefined && isLater(heir, other)) return heir.id;
    const next = table.get(id)?.supersededBy ?? null;
    if (next === null || !going.has(next)) return next;
    return placeTaker(next, other);
  };

  for (const id of going) {
    const heir = heirOf(id);
    for (const other of staying(table.supersededBy(id))) amend(other, { supersededBy: placeTaker(id, other) });
    for (const duplicate of staying(table.duplicatesOf(id))) {
      if (duplicate !== heir) amend(duplicate, { duplicateOf: heir?.id ?? null });
    }
    if (heir === undefined) continue;
    const next = table.get(id)?.supersededBy ?? null;
    const taker = next === null || !going.has(next) ? next : placeTaker(next, heir);
    const after = taker === null ? undefined : table.get(taker);
    amend(heir, { duplicateOf: null, supersededBy: after !== undefined && isLater(after, heir) ? taker : null });
  }
  return { drop: [...going], put: [...changed.values()] };
}

/** Deletes a memory and all that it took the place of, so that nothing older comes up in its stead. */
export function removeWhole(table: Table, id: string): Change {
  return unsay(table, [id, ...historyOf(table, id).map((memory) => memory.id)]);
}

/** What a memory took the place of, directly or not, and what said the same; the newest first. */
export function historyOf(table: Table, id: string): readonly Memory[] {
  const found = new Map<string, Memory>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const memory of [...table.supersededBy(next), ...table.duplicatesOf(next)]) {
      if (found.has(memory.id)) continue;
      found.set(memory.id, memory);
      open.push(memory.id);
    }
  }
  found.delete(id);
  return [...found.values()].sort(byTime).reverse();
}

function withResting(table: Table, ids: Iterable<string>): ReadonlySet<string> {
  const going = new Set<string>();
  const open = [...ids];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (going.has(next) || table.get(next) === undefined) continue;
    going.add(next);
    open.push(...table.restingOn(next).map(({ id }) => id));
  }
  return going;
}
