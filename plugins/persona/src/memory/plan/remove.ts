import { sameAudience } from '../table/audience.js';
import type { Change } from '../table/change.js';
import { byTime, isLater, stands } from '../table/order.js';
import type { Table } from '../table/table.js';
import { saysTheSame } from '../text/similar.js';
import type { Memory } from '../types.js';
import { mayReplace } from './add.js';

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
  settleRevived(table, going, changed);
  return { drop: [...going], put: [...changed.values()] };
}

/** What stands again finds its place among what was said later, as though it had just been heard: it may be known by then, or outdated. */
function settleRevived(table: Table, going: ReadonlySet<string>, changed: Map<string, Memory>): void {
  const now = (memory: Memory) => changed.get(memory.id) ?? memory;
  const revived = [...changed.values()].filter(stands).sort(byTime).reverse();
  for (const memory of revived) {
    const later = table
      .about(memory.subject)
      .map(now)
      .filter((other) => !going.has(other.id) && stands(other) && other.kind === memory.kind && isLater(other, memory))
      .sort(byTime);
    const same = later.findLast((other) => saysItAgain(table, other, memory));
    if (same !== undefined) {
      changed.set(memory.id, { ...memory, duplicateOf: same.id });
      for (const other of [...table.duplicatesOf(memory.id), ...changed.values()].map(now)) {
        if (other.duplicateOf !== memory.id || going.has(other.id)) continue;
        changed.set(other.id, { ...other, duplicateOf: same.id });
      }
      continue;
    }
    const next = later.find((other) => other.attribute === memory.attribute && mayReplace(other, memory));
    if (memory.attribute !== null && next !== undefined) changed.set(memory.id, { ...memory, supersededBy: next.id });
  }
}

const saysItAgain = (table: Table, one: Memory, other: Memory): boolean =>
  one.speaker === other.speaker && sameAudience(one, other) && saysTheSame(table.gist(one), table.gist(other));

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
