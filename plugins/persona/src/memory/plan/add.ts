import { covers, mayTell, sameAudience } from '../table/audience.js';
import { byTime, isFirstHand, isLater, stands } from '../table/order.js';
import type { Table } from '../table/table.js';
import { saysTheSame } from '../text/similar.js';
import type { Added, Decision, Memory } from '../types.js';
import { mergeOf } from './merge.js';

/** What adding a memory comes to; nothing is changed yet. */
export interface Plan {
  readonly outcome: Added['outcome'];
  readonly put: readonly Memory[];
  readonly drop: readonly string[];
  /** What was reflected on already, in other words. */
  readonly reflected?: readonly string[];
  /** What stands afterwards. */
  readonly memory: Memory | undefined;
  readonly replaced: readonly Memory[];
}

/** Somebody who says the same thing daily does not fill the memory with it. */
const MOST_DUPLICATES = 8;

/**
 * Adds, updates, merges, or finds that nothing is new. By itself: what says the same as something that stands, by the same person of the same
 * subject to the same audience, is kept as a further source of that; of an attribute that there is one of, the later word takes the earlier
 * one's place, but nobody's word that of the person whom it is about.
 * @param newId for a memory that is made of several
 */
export function planAdd(table: Table, memory: Memory, decision: Decision | undefined, newId: () => string): Plan {
  if (decision === undefined) return planByItself(table, memory);
  if (decision.kind === 'nothing') {
    return { outcome: 'nothing', put: [], drop: [], memory: undefined, replaced: [] };
  }
  if (decision.kind === 'add') return planAlone(memory);
  const others = decision.ids
    .flatMap((id) => table.get(id) ?? [])
    .filter((other) => isOpen(other) && mayTell(other, memory));
  if (decision.kind === 'merge') return mergeOf(memory, others, decision.text, newId()) ?? planAlone(memory);
  return planReplacing(
    memory,
    others.filter((other) => covers(memory, other) && isLater(memory, other) && mayOverrule(memory, other)),
  );
}

function planByItself(table: Table, memory: Memory): Plan {
  const same = sameAs(table, memory);
  if (same === undefined) return planAttribute(table, memory);
  const [mine, theirs] = [table.gist(memory), table.gist(same)];
  const outcome = mine.exact === theirs.exact ? 'known' : 'merged';
  const drop = tooMany(table, same);
  if (mine.terms.size < theirs.terms.size || !isLater(memory, same)) {
    const refreshed = { ...same, lastAccess: Math.max(same.lastAccess, memory.at) };
    return { outcome, put: [{ ...memory, duplicateOf: same.id }, refreshed], drop, memory: refreshed, replaced: [] };
  }
  // It says no less, and confirms it: from now on it speaks for both, against whatever was said in between.
  const plan = planAttribute(table, { ...memory, importance: Math.max(memory.importance, same.importance) });
  const moved = [...table.duplicatesOf(same.id), same]
    .filter(({ id }) => !drop.includes(id))
    .map((other) => ({ ...other, duplicateOf: memory.id }));
  const inherited = table.supersededBy(same.id).map((other) => ({ ...other, supersededBy: memory.id }));
  const untouched = plan.put.filter(({ id }) => id !== same.id);
  const replaced = plan.replaced.filter(({ id }) => id !== same.id);
  const reflected = table.isPending(same.id) ? [] : [memory.id];
  return { ...plan, outcome, put: [...untouched, ...moved, ...inherited], drop, replaced, reflected };
}

/** The latest that stands and says the same. */
function sameAs(table: Table, memory: Memory): Memory | undefined {
  const gist = table.gist(memory);
  return table
    .about(memory.subject)
    .filter((other) => stands(other) && other.kind === memory.kind && other.speaker === memory.speaker)
    .filter((other) => sameAudience(other, memory) && saysTheSame(table.gist(other), gist))
    .sort(byTime)
    .at(-1);
}

function tooMany(table: Table, memory: Memory): readonly string[] {
  const duplicates = table.duplicatesOf(memory.id).filter(({ id }) => table.restingOn(id).length === 0);
  return duplicates.length < MOST_DUPLICATES
    ? []
    : [...duplicates]
        .sort(byTime)
        .slice(0, 1)
        .map(({ id }) => id);
}

function planAttribute(table: Table, memory: Memory): Plan {
  if (memory.attribute === null) return planAlone(memory);
  const others = table
    .onAttribute(memory.subject, memory.attribute)
    .filter((other) => stands(other) && other.kind === memory.kind);
  const later = others.filter((other) => isLater(other, memory) && mayReplace(other, memory)).sort(byTime);
  const replaced = others.filter((other) => isLater(memory, other) && mayReplace(memory, other));
  const [next] = later;
  if (next === undefined) return planReplacing(memory, replaced);
  const { put } = planReplacing({ ...memory, supersededBy: next.id }, replaced);
  return { outcome: 'outdated', put, drop: [], memory: next, replaced };
}

/** Whoever decides: what people say of themselves is theirs to take back. */
const mayOverrule = (later: Memory, earlier: Memory): boolean =>
  !isFirstHand(earlier) || later.speaker === earlier.speaker;

/** Whether a later word takes an earlier one's place: all who were told that are told this, and nobody is overruled by hearsay. */
export function mayReplace(later: Memory, earlier: Memory): boolean {
  return covers(later, earlier) && (isFirstHand(later) || !isFirstHand(earlier));
}

function planReplacing(memory: Memory, replaced: readonly Memory[]): Plan {
  const put = [memory, ...replaced.map((other) => ({ ...other, supersededBy: memory.id }))];
  return { outcome: replaced.length > 0 ? 'updated' : 'added', put, drop: [], memory, replaced };
}

const planAlone = (memory: Memory): Plan => planReplacing(memory, []);

/** Whether a decision may still be made about it. */
const isOpen = ({ supersededBy, duplicateOf, kind }: Memory) =>
  supersededBy === null && duplicateOf === null && kind === 'fact';
