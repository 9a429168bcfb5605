import { recencyOf } from '../plan/forget.js';
import { isMember } from '../plan/merge.js';
import { mayTell } from '../table/audience.js';
import { isFirstHand, isLater, stands } from '../table/order.js';
import type { Table } from '../table/table.js';
import { cosine } from '../table/vector.js';
import { isQuestion } from '../text/attributes.js';
import { topicsOf } from '../text/topics.js';
import type { Memory, Place, Recalled } from '../types.js';
import { laterFirst, likeness } from './later-first.js';
import type { Question } from './question.js';
import type { Search } from './search.js';

interface Wanted {
  readonly table: Table;
  readonly search: Search;
  readonly place: Place;
  /** `undefined`: whatever is recent and important. */
  readonly question: Question | undefined;
  /** Of the query, when a provider makes embeddings. */
  readonly vector: Int8Array | undefined;
  readonly now: number;
  readonly limit: number;
}

/** However long ago and however slight, what is asked for outweighs what is not: neither factor goes below these. */
const LEAST_RECENCY = 0.6;
const LEAST_IMPORTANCE = 0.4;
/** What has nothing in common with the question but the person. */
const LEAST_RELEVANCE = 0.05;
/** How much it counts that a memory is on exactly what is asked. */
const ATTRIBUTE = 0.4;
/** A question answers none. */
const QUESTION = 0.3;
/** What is said of somebody by others. */
const HEARSAY = 0.8;
/** How many times as many as are wanted are looked at for those that differ. */
const CHOICE = 5;
/** How much a memory loses that says what a better one says. */
const SAMENESS = 0.6;
/** Texts that have nothing to do with one another are about so similar to a model. */
const NO_COSINE = 0.2;

/** The best first. Only what may be told in the place, and only of those whom the question is about. */
export function rank(wanted: Wanted): readonly Recalled[] {
  const { table, place, question, now, limit } = wanted;
  const isWanted = (memory: Memory) => stands(memory) && mayTell(memory, place) && isAbout(memory, question);
  const best: Recalled[] = [];
  const most = limit * CHOICE;
  for (const [memory, relevance] of question === undefined
    ? everything(table, isWanted)
    : relevant(wanted, question, isWanted)) {
    const recalled = scored(memory, relevance, now);
    const last = best[most - 1];
    if (last !== undefined && compare(recalled, last) >= 0) continue;
    if (isOverruled(memory, table, isWanted)) continue;
    const at = best.findIndex((other) => compare(recalled, other) < 0);
    best.splice(at < 0 ? best.length : at, 0, recalled);
    if (best.length > most) best.pop();
  }
  return laterFirst(varied(best, table, limit), new Set(topicsOf(question?.terms ?? [])), table);
}

/** Takes the best, but prefers what adds something to what has been taken: five times the same joke would leave no room for an answer. */
function varied(best: readonly Recalled[], table: Table, limit: number): readonly Recalled[] {
  const left = best.map((recalled) => ({ recalled, terms: table.gist(recalled.memory).terms, sameness: 0 }));
  const taken: Recalled[] = [];
  while (taken.length < limit && left.length > 0) {
    const worth = ({ recalled, sameness }: (typeof left)[number]) => recalled.score * (1 - SAMENESS * sameness);
    const next = left.reduce((first, other) => (worth(other) > worth(first) ? other : first));
    left.splice(left.indexOf(next), 1);
    taken.push(next.recalled);
    for (const other of left) other.sameness = Math.max(other.sameness, likeness(next.terms, other.terms));
  }
  return taken;
}

function* everything(table: Table, isWanted: (memory: Memory) => boolean): Generator<readonly [Memory, number]> {
  for (const memory of table.all()) if (isWanted(memory)) yield [memory, 1];
}

function* relevant(
  { table, search, vector }: Wanted,
  question: Question,
  isWanted: (memory: Memory) => boolean,
): Generator<readonly [Memory, number]> {
  const scores = search.find(question.terms, isWanted);
  const onPoint = new Set(onAttributes(table, question).filter(isWanted));
  const highest = Math.max(...scores.values(), Number.MIN_VALUE);
  const relevanceOf = (memory: Memory) => {
    const words = (scores.get(memory.id) ?? 0) / highest;
    const lexical = onPoint.size === 0 ? words : (1 - ATTRIBUTE) * words + (onPoint.has(memory) ? ATTRIBUTE : 0);
    const known = vector === undefined ? undefined : table.vector(memory.id);
    const both =
      vector === undefined || known === undefined
        ? lexical
        : (lexical + Math.max(0, cosine(vector, known) - NO_COSINE) / (1 - NO_COSINE)) / 2;
    const doubt =
      (isQuestion(memory.text) ? QUESTION : 1) * (isFirstHand(memory) || !isMember(memory.subject) ? 1 : HEARSAY);
    return Math.min(1, Math.max(LEAST_RELEVANCE, both * doubt));
  };

  const candidates = new Set<Memory>(onPoint);
  if (vector !== undefined) for (const memory of table.all()) if (isWanted(memory)) candidates.add(memory);
  for (const id of scores.keys()) {
    const memory = table.get(id);
    if (memory !== undefined) candidates.add(memory);
  }
  // Of somebody who is asked about, anything is better than nothing.
  for (const person of question.people ?? []) {
    for (const memory of table.about(person)) if (isWanted(memory)) candidates.add(memory);
  }
  for (const memory of candidates) yield [memory, relevanceOf(memory)];
}

/** A fact about a person is for those who ask about that person; what is about no person, for everybody. */
function isAbout({ subject }: Memory, question: Question | undefined): boolean {
  return question?.people === undefined || question.people.has(subject) || !isMember(subject);
}

function onAttributes(table: Table, { people, attributes }: Question): readonly Memory[] {
  return [...(people ?? [])].flatMap((person) =>
    attributes.flatMap((attribute) => [...table.onAttribute(person, attribute)]),
  );
}

function scored(memory: Memory, relevance: number, now: number): Recalled {
  const recency = LEAST_RECENCY + (1 - LEAST_RECENCY) * recencyOf(memory, now);
  const importance = LEAST_IMPORTANCE + ((1 - LEAST_IMPORTANCE) * memory.importance) / 10;
  return { memory, score: recency * importance * relevance, recency, importance, relevance };
}

/** The better first, then the later. */
function compare(one: Recalled, other: Recalled): number {
  return other.score - one.score || (isLater(one.memory, other.memory) ? -1 : 1);
}

/**
 * Whether a later word on the same is told in the same place. The table links the two only where everybody may be told the later one; here both
 * may be.
 */
function isOverruled(memory: Memory, table: Table, isWanted: (memory: Memory) => boolean): boolean {
  const { subject, attribute } = memory;
  if (attribute === null || memory.kind !== 'fact') return false;
  return table
    .onAttribute(subject, attribute)
    .some(
      (other) =>
        other.kind === 'fact' &&
        isLater(other, memory) &&
        isWanted(other) &&
        (isFirstHand(other) || !isFirstHand(memory)),
    );
}
