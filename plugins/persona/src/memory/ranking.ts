import { timesIn } from './dates.js';
import { cosine, isLater, isStanding, type MemoryIndex, wordingOf } from './memory-index.js';
import type { Search } from './search.js';
import { isVisible, type Memory, type Recall, type Recalled } from './types.js';
import { recencyOf } from './updates.js';
import { namedIn, People } from './words.js';

interface Wanted extends Recall {
  readonly index: MemoryIndex;
  readonly search: Search;
  /** Of the query, when a provider makes embeddings. */
  readonly vector: Int8Array | undefined;
  readonly now: number;
  readonly limit: number;
}

/** How much recency and importance weigh: where something is asked, they only tell apart what fits about as well. */
const TIE_BREAKERS = { recency: 0.05, importance: 0.1 };
const WITHOUT_QUESTION = { recency: 0.4, importance: 0.6 };
/** For each bit that a name tells: of two people it is one bit, of sixteen four. */
const PERSON = 0.15;
/** Said at the time that is asked about. */
const AT_THE_TIME = 1;
/** What has nothing in common with the question but the person. */
const LEAST_RELEVANCE = 0.01;
/** How many times as many as are wanted are looked at for those that differ. */
const CHOICE = 5;
/** How much the meaning counts beside the words, where a provider makes embeddings. */
const MEANING = 0.25;

/** The best first, of what stands and may be known in the place. */
export function rank(wanted: Wanted): readonly Recalled[] {
  const { index, place, query = '', about, now, limit } = wanted;
  const isWanted = (memory: Memory) =>
    isStanding(memory) && isVisible(memory, place) && (about === undefined || about.includes(memory.subject));
  const isQuestion = query.trim() !== '';
  const weights = isQuestion ? TIE_BREAKERS : WITHOUT_QUESTION;
  const best: Recalled[] = [];
  for (const [memory, relevance] of isQuestion ? relevant(wanted, isWanted) : everything(index, isWanted)) {
    const last = best[limit * CHOICE - 1];
    if (last !== undefined && relevance < last.score) continue;
    const one = scored(memory, relevance, weights, now);
    if (last !== undefined && isBetter(last, one)) continue;
    const at = best.findIndex((other) => isBetter(one, other));
    best.splice(at < 0 ? best.length : at, 0, one);
    if (best.length > limit * CHOICE) best.pop();
  }
  return distinct(best, limit);
}

function scored(memory: Memory, relevance: number, weights: typeof TIE_BREAKERS, now: number): Recalled {
  const recency = 1 - weights.recency + weights.recency * recencyOf(memory, now);
  const importance = 1 - weights.importance + (weights.importance * memory.importance) / 10;
  return { memory, score: recency * importance * relevance, recency, importance, relevance };
}

/** The higher score, then the later. */
const isBetter = (one: Recalled, other: Recalled): boolean =>
  one.score > other.score || (one.score === other.score && isLater(one.memory, other.memory));

/** Each wording once: five times the same joke would leave no room for an answer. */
function distinct(ranked: readonly Recalled[], limit: number): readonly Recalled[] {
  const byWording = new Map<string, Recalled>();
  for (const one of ranked) {
    const wording = wordingOf(one.memory.text);
    if (!byWording.has(wording)) byWording.set(wording, one);
  }
  return [...byWording.values()].slice(0, limit);
}

function everything(index: MemoryIndex, isWanted: (memory: Memory) => boolean): ReadonlyMap<Memory, number> {
  return new Map([...index.all()].filter(isWanted).map((memory) => [memory, 1]));
}

/** How well each fits the query, above 0 and at most 1: by words, whom and when it names, and by its meaning. */
function relevant(wanted: Wanted, isWanted: (memory: Memory) => boolean): ReadonlyMap<Memory, number> {
  const { search, query = '', now, vector, limit } = wanted;
  const prefer = preferences(wanted);
  const isAtTheTime = timesIn(query, now);
  const scores = search.find(query, isWanted);
  for (const [memory, score] of scores) {
    const time = isAtTheTime?.(memory.at) === true ? 1 + AT_THE_TIME : 1;
    scores.set(memory, score * prefer(memory) * time);
  }
  const relevance = normalised(scores, 0);
  if (relevance.size < limit) {
    for (const memory of candidates(wanted, isWanted)) relevance.set(memory, relevance.get(memory) ?? LEAST_RELEVANCE);
  }
  if (vector === undefined) return relevance;
  const closeness = closenessTo(vector, wanted, isWanted);
  for (const memory of closeness.keys()) {
    const both = (1 - MEANING) * (relevance.get(memory) ?? 0) + MEANING * (closeness.get(memory) ?? 0);
    relevance.set(memory, Math.max(LEAST_RELEVANCE, both));
  }
  return relevance;
}

/** What comes up rather than nothing, although it has no word in common with the query: of those whom it mentions, or who are asked about. */
function candidates({ index, query = '', about }: Wanted, isWanted: (memory: Memory) => boolean): readonly Memory[] {
  return [...(about ?? namedIn(query, index.people))].flatMap((person) => index.about(person).filter(isWanted));
}

/** How much whom the query names is preferred: the more, the fewer memories come from or are about that person. */
function preferences({ index, query = '', askedBy, people = [] }: Wanted): (memory: Memory) => number {
  const named = namedIn(query, People.of(people), index.people);
  const asked = named.size > 0 || askedBy === undefined ? named : [askedBy];
  const weights = new Map(
    [...asked].map((person) => [person, 1 + PERSON * Math.log2((index.size + 1) / (index.countOf(person) + 1))]),
  );
  return ({ subject, speaker }) => Math.max(weights.get(subject) ?? 1, weights.get(speaker) ?? 1);
}

/** How close each memory's vector is to the query's, against how close they are on average. */
function closenessTo(vector: Int8Array, { index, search }: Wanted, isWanted: (memory: Memory) => boolean) {
  const cosines = new Map<Memory, number>();
  for (const memory of index.all()) {
    const known = index.vector(memory.id);
    if (known !== undefined && isWanted(memory)) cosines.set(memory, cosine(vector, known));
  }
  const average = [...cosines.values()].reduce((sum, value) => sum + value, 0) / Math.max(1, cosines.size);
  return normalised(search.inContext(normalised(cosines, average)), 0);
}

/** From 0 for the least to 1 for the highest. Changes the values where they are. */
function normalised(values: Map<Memory, number>, least: number): Map<Memory, number> {
  let highest = least;
  for (const value of values.values()) highest = Math.max(highest, value);
  const range = highest - least || 1;
  for (const [memory, value] of values) values.set(memory, Math.max(0, value - least) / range);
  return values;
}
