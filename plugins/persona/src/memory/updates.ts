import { byTime, type Change, isActive, isLater, type MemoryIndex } from './memory-index.js';
import {
  type Added,
  covers,
  type Evidence,
  isMember,
  isVisible,
  type Memory,
  type NewMemory,
  sameAudience,
  visibilityAt,
} from './types.js';
import { exactlyNamedIn, People } from './words.js';

const MAX_TEXT = 2_000;
const MAX_LABEL = 100;
/** Maximum number of duplicates of one memory, so that a member's daily repetition does not fill the store. */
const MOST_DUPLICATES = 8;
const HOUR_MS = 3_600_000;
/** Factor per hour since the last recall. */
const DECAY = 0.995;
/** Factor for superseded memories, which are removed first. */
const HISTORY_WORTH = 0.1;
/** Share of the capacity that is removed beyond what is necessary, so that not every addition has to select memories. */
const MORE = 0.01;

/** Fills in the defaults of a new memory. `planAdd` sets links to others. */
export function compose(given: NewMemory, index: MemoryIndex, id: string, now: number): Memory {
  const { place, speaker } = given;
  const text = tidy(given.text, MAX_TEXT);
  const subject = tidy(given.subject ?? subjectOf(given, index), MAX_LABEL);
  const subjectName = given.subjectName ?? (subject === speaker ? given.speakerName : undefined);
  const at = given.at ?? now;
  return {
    id,
    kind: 'fact',
    text,
    subject: isMember(subject) ? subject : subject.toLowerCase(),
    subjectName: isMember(subject) && subjectName !== undefined ? tidy(subjectName, MAX_LABEL) : null,
    speaker,
    speakerName: given.speakerName === undefined ? null : tidy(given.speakerName, MAX_LABEL),
    messageId: given.messageId ?? null,
    channelId: place.channelId,
    guildId: place.guildId,
    at,
    importance: inRange(given.importance ?? Number.NaN),
    visibility: visibilityAt(place, given.visibility),
    supersededBy: null,
    duplicateOf: null,
    evidence: [],
    lastAccess: at,
    setAsideAt: null,
  };
}

/** The subject of a text when it is not given: the only person whom it names, otherwise the speaker. */
function subjectOf({ text, speaker, speakerName, people = [] }: NewMemory, index: MemoryIndex): string {
  const present = People.of([...people, { userId: speaker, names: speakerName === undefined ? [] : [speakerName] }]);
  const [only, ...others] = exactlyNamedIn(text, present, index.people);
  return only === undefined || others.length > 0 ? speaker : only;
}

export const tidy = (text: string, length: number): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, length);

/** Rounded, and limited to 1-10; 3 for NaN. */
export function inRange(importance: number): number {
  return Number.isFinite(importance) ? Math.min(10, Math.max(1, Math.round(importance))) : 3;
}

/** The result of adding a memory, before it is applied. */
interface Addition extends Change {
  readonly outcome: Added['outcome'];
  readonly put: readonly Memory[];
  readonly replaced: readonly Memory[];
}

/**
 * Adds a memory and supersedes those that it replaces, if its audience includes theirs; a member's statement about themselves is superseded by the same member
 * only. A memory with the same words, speaker and audience becomes a further source of the existing one.
 */
export function planAdd(index: MemoryIndex, memory: Memory, supersedes: readonly string[] = []): Addition {
  const replaced = supersedes
    .flatMap((id) => index.get(id) ?? [])
    .filter((other) => other.kind === 'fact' && other.supersededBy === null && other.duplicateOf === null)
    .filter((other) => isVisible(other, memory) && covers(memory, other) && isLater(memory, other))
    .filter((other) => other.speaker !== other.subject || memory.speaker === other.speaker);
  const put = [memory, ...replaced.map((other) => ({ ...other, supersededBy: memory.id }))];
  if (replaced.length > 0) return { outcome: 'updated', put, replaced };
  const same = sameAs(index, memory);
  return same === undefined ? { outcome: 'added', put, replaced } : planKnown(index, memory, same);
}

/** The later of the two represents both, and all earlier duplicates. */
function planKnown(index: MemoryIndex, memory: Memory, same: Memory): Addition {
  const drop = tooMany(index, same);
  if (!isLater(memory, same)) {
    const refreshed = { ...same, lastAccess: Math.max(same.lastAccess, memory.at) };
    return { outcome: 'known', put: [{ ...memory, duplicateOf: same.id }, refreshed], drop, replaced: [] };
  }
  const moved = [...index.duplicatesOf(same.id), same]
    .filter(({ id }) => !drop.includes(id))
    .map((other) => ({ ...other, duplicateOf: memory.id }));
  const inherited = index.supersededBy(same.id).map((other) => ({ ...other, supersededBy: memory.id }));
  const heir = { ...memory, importance: Math.max(memory.importance, same.importance) };
  const reflected = index.isPending(same.id) ? [] : [memory.id];
  return { outcome: 'known', put: [heir, ...moved, ...inherited], drop, replaced: [], reflected };
}

/** The latest active memory with the same words, subject, speaker and audience. */
function sameAs(index: MemoryIndex, memory: Memory): Memory | undefined {
  return index
    .worded(memory.text)
    .filter((other) => isActive(other) && saysSame(other, memory))
    .sort(byTime)
    .at(-1);
}

const saysSame = (one: Memory, other: Memory): boolean =>
  one.kind === other.kind && one.subject === other.subject && one.speaker === other.speaker && sameAudience(one, other);

function tooMany(index: MemoryIndex, memory: Memory): readonly string[] {
  const duplicates = index.duplicatesOf(memory.id).filter(({ id }) => index.restingOn(id).length === 0);
  const [oldest] = [...duplicates].sort(byTime);
  return duplicates.length < MOST_DUPLICATES || oldest === undefined ? [] : [oldest.id];
}

/** A memory and its evidence as evidence for another: deleting any of their messages deletes that one, too. */
export function evidenceOf(memory: Memory): readonly Evidence[] {
  const { id, messageId, channelId, speaker, subject, evidence } = memory;
  const people = [...new Set([speaker, subject])].filter(isMember);
  return [{ id, messageId, channelId, people }, ...evidence];
}

/**
 * Removes memories as though they had never been said. Memories that depend on them are removed, too; superseded ones become active again, unless another
 * remaining memory supersedes them as well; of duplicates, the latest represents all.
 */
export function retract(index: MemoryIndex, ids: Iterable<string>): Change {
  const going = withResting(index, ids);
  const changed = new Map<string, Memory>();
  const amend = (memory: Memory, links: Partial<Pick<Memory, 'supersededBy' | 'duplicateOf'>>) =>
    changed.set(memory.id, { ...(changed.get(memory.id) ?? memory), ...links });
  const staying = (memories: readonly Memory[]) => memories.filter(({ id }) => !going.has(id));

  const heirOf = (id: string) => [...staying(index.duplicatesOf(id))].sort(byTime).at(-1);
  /** The successor of a memory that is going to be deleted, if it is later than `other`. */
  const successorOf = (id: string, other: Memory): string | null => {
    const heir = heirOf(id);
    if (heir !== undefined && isLater(heir, other)) return heir.id;
    const next = index.get(id)?.supersededBy ?? null;
    return next === null || !going.has(next) ? next : successorOf(next, other);
  };

  for (const id of going) {
    const heir = heirOf(id);
    for (const other of staying(index.supersededBy(id))) amend(other, { supersededBy: successorOf(id, other) });
    for (const duplicate of staying(index.duplicatesOf(id))) {
      if (duplicate !== heir) amend(duplicate, { duplicateOf: heir?.id ?? null });
    }
    if (heir === undefined) continue;
    const next = index.get(id)?.supersededBy ?? null;
    const successor = next === null || !going.has(next) ? next : successorOf(next, heir);
    const after = successor === null ? undefined : index.get(successor);
    amend(heir, { duplicateOf: null, supersededBy: after !== undefined && isLater(after, heir) ? successor : null });
  }
  mergeRevived(index, going, changed);
  return { drop: [...going], put: [...changed.values()] };
}

/** A memory that becomes active again may have been repeated meanwhile: then the later one replaces it. */
function mergeRevived(index: MemoryIndex, going: ReadonlySet<string>, changed: Map<string, Memory>): void {
  const now = (memory: Memory) => changed.get(memory.id) ?? memory;
  for (const memory of [...changed.values()].filter(isActive).sort(byTime).reverse()) {
    const same = index
      .worded(memory.text)
      .map(now)
      .filter((other) => !going.has(other.id) && isActive(other) && isLater(other, memory))
      .filter((other) => saysSame(other, memory))
      .sort(byTime)
      .at(-1);
    if (same === undefined) continue;
    changed.set(memory.id, { ...memory, duplicateOf: same.id });
    for (const other of [...index.duplicatesOf(memory.id), ...changed.values()].map(now)) {
      if (other.duplicateOf === memory.id && !going.has(other.id))
        changed.set(other.id, { ...other, duplicateOf: same.id });
    }
  }
}

/** Deletes a memory and all that it superseded, so that no older version becomes active instead. */
export function removeWhole(index: MemoryIndex, id: string): Change {
  return retract(index, [id, ...historyOf(index, id)]);
}

/** Ids of the memories that this one superseded, directly or not, and of their duplicates. */
function historyOf(index: MemoryIndex, id: string): ReadonlySet<string> {
  const found = closure([id], (next) => [...index.supersededBy(next), ...index.duplicatesOf(next)]);
  found.delete(id);
  return found;
}

const withResting = (index: MemoryIndex, ids: Iterable<string>): ReadonlySet<string> =>
  closure(
    [...ids].filter((id) => index.get(id) !== undefined),
    index.restingOn,
  );

/** The ids, and those reachable from them through `next`. */
function closure(ids: readonly string[], next: (id: string) => readonly Memory[]): Set<string> {
  const found = new Set<string>();
  const open = [...ids];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    open.push(...next(id).map((memory) => memory.id));
  }
  return found;
}

/** Above 0, at most 1. */
export const recencyOf = ({ lastAccess }: Memory, now: number): number =>
  DECAY ** (Math.max(0, now - lastAccess) / HOUR_MS);

/** Selects memories to remove when there are too many: the least important ones of those not recalled for longest. */
export function forgetLeast(index: MemoryIndex, capacity: number, now: number): Change | undefined {
  if (index.size <= capacity) return undefined;
  const count = index.size - capacity + Math.floor(capacity * MORE);
  const worth = (memory: Memory) =>
    (memory.importance / 10) * recencyOf(memory, now) * (isActive(memory) ? 1 : HISTORY_WORTH);
  const least = [...index.all()]
    .map((memory) => ({ id: memory.id, worth: worth(memory) }))
    .sort((one, other) => one.worth - other.worth)
    .slice(0, count);
  // Otherwise memories that a removed one superseded would become active again.
  return { drop: [...new Set(least.flatMap(({ id }) => [id, ...historyOf(index, id)]))] };
}
