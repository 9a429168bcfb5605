import { cosine, isActive, isLater, type MemoryIndex, wordingOf } from './memory-index.js';
import { isMember, isVisible, type Memory, type Recall, type Recalled } from './types.js';
import { recencyOf } from './updates.js';
import { namedIn, People, termsOf, timesIn } from './words.js';

interface Wanted extends Recall {
  readonly index: MemoryIndex;
  readonly search: Search;
  /** The vector of the query, when a provider makes embeddings. */
  readonly vector: Int8Array | undefined;
  readonly now: number;
  readonly limit: number;
}

/** Weights of recency and importance. With a query they only order memories of similar relevance. */
const TIE_BREAKERS = { recency: 0.05, importance: 0.1 };
const WITHOUT_QUESTION = { recency: 0.4, importance: 0.6 };
/** Weight per bit of information in a name: one of two people gives one bit, one of sixteen four. */
const PERSON = 0.15;
/** Weight of a memory from a time that the query names. */
const AT_THE_TIME = 1;
/** The relevance of a memory that shares only the person with the query. */
const LEAST_RELEVANCE = 0.01;
/** Candidates per requested memory, since `distinct` removes equal ones. */
const CHOICE = 5;
/** Weight of the embedding's similarity against that of the words. */
const MEANING = 0.25;

/** The best active memories that may be known in the place, best first. */
export function rank(wanted: Wanted): readonly Recalled[] {
  const { index, place, query = '', about, now, limit } = wanted;
  const isWanted = (memory: Memory) =>
    isActive(memory) && isVisible(memory, place) && (about === undefined || about.includes(memory.subject));
  const isQuestion = query.trim() !== '';
  const weights = isQuestion ? TIE_BREAKERS : WITHOUT_QUESTION;
  const best: Recalled[] = [];
  for (const { memory, relevance } of isQuestion ? relevant(wanted, isWanted) : everything(index, isWanted)) {
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

/** Keeps the best memory of each wording, so that a repeated sentence takes up one place only. */
function distinct(ranked: readonly Recalled[], limit: number): readonly Recalled[] {
  const byWording = new Map<string, Recalled>();
  for (const one of ranked) {
    const wording = wordingOf(one.memory.text);
    if (!byWording.has(wording)) byWording.set(wording, one);
  }
  return [...byWording.values()].slice(0, limit);
}

/** A memory that was found, and how well it fits. */
export interface Hit {
  readonly memory: Memory;
  relevance: number;
}

function everything(index: MemoryIndex, isWanted: (memory: Memory) => boolean): readonly Hit[] {
  return [...index.all()].filter(isWanted).map((memory) => ({ memory, relevance: 1 }));
}

/** The relevance of each memory to the query, above 0 and at most 1: by its words, by people and times that the query names, and by embeddings. */
function relevant(wanted: Wanted, isWanted: (memory: Memory) => boolean): readonly Hit[] {
  const { search, query = '', now, vector, limit } = wanted;
  const prefer = preferences(wanted);
  const isAtTheTime = timesIn(query, now);
  const hits = search.find(query, isWanted);
  for (const hit of hits) {
    const time = isAtTheTime?.(hit.memory.at) === true ? 1 + AT_THE_TIME : 1;
    hit.relevance *= prefer(hit.memory) * time;
  }
  normalise(hits, 0);
  if (hits.length < limit) {
    const found = new Set(hits.map(({ memory }) => memory));
    const others = new Set(candidates(wanted, isWanted).filter((memory) => !found.has(memory)));
    for (const memory of others) hits.push({ memory, relevance: LEAST_RELEVANCE });
  }
  if (vector === undefined) return hits;
  const byWords = new Map(hits.map(({ memory, relevance }) => [memory, relevance]));
  const close = closeTo(vector, wanted, isWanted);
  for (const hit of close) {
    const both = (1 - MEANING) * (byWords.get(hit.memory) ?? 0) + MEANING * hit.relevance;
    hit.relevance = Math.max(LEAST_RELEVANCE, both);
    byWords.delete(hit.memory);
  }
  return [...close, ...hits.filter(({ memory }) => byWords.has(memory))];
}

/** For a query with too few hits: memories about the members whom it mentions, or to whom it is restricted. */
function candidates({ index, query = '', about }: Wanted, isWanted: (memory: Memory) => boolean): readonly Memory[] {
  return [...(about ?? namedIn(query, index.people))].flatMap((person) => index.about(person).filter(isWanted));
}

/**
 * The factor by which memories from or about a person named in the query are preferred, otherwise those of the requesting member. The fewer memories there are
 * of the person, the higher it is.
 */
function preferences({ index, query = '', askedBy, people = [] }: Wanted): (memory: Memory) => number {
  const named = namedIn(query, People.of(people), index.people);
  const asked = named.size > 0 || askedBy === undefined ? named : [askedBy];
  const weights = new Map(
    [...asked].map((person) => [person, 1 + PERSON * Math.log2((index.size + 1) / (index.countOf(person) + 1))]),
  );
  return ({ subject, speaker }) => Math.max(weights.get(subject) ?? 1, weights.get(speaker) ?? 1);
}

/** How much closer each memory's vector is to the query's than the average. */
function closeTo(vector: Int8Array, { index, search }: Wanted, isWanted: (memory: Memory) => boolean): readonly Hit[] {
  const hits: Hit[] = [];
  for (const memory of index.all()) {
    const known = index.vector(memory.id);
    if (known !== undefined && isWanted(memory)) hits.push({ memory, relevance: cosine(vector, known) });
  }
  const average = hits.reduce((sum, { relevance }) => sum + relevance, 0) / Math.max(1, hits.length);
  normalise(hits, average);
  search.addContext(hits);
  normalise(hits, 0);
  return hits;
}

/** Scales relevance from 0 for `least` to 1 for the highest. */
function normalise(hits: readonly Hit[], least: number): void {
  let highest = least;
  for (const { relevance } of hits) highest = Math.max(highest, relevance);
  const range = highest - least || 1;
  for (const hit of hits) hit.relevance = Math.max(0, hit.relevance - least) / range;
}

export type Search = ReturnType<typeof createSearch>;

/** Parameters of BM25: k1, how soon further occurrences of a term count no more, and b, how much the length of a text counts. */
const SATURATION = 0.9;
const LENGTH = 0.5;
/** The direct neighbour in a conversation gets half of a term's weight, the next one a quarter, because a question and its answer have few words in common. */
const NEIGHBOUR = 0.5;
const MOST_NEIGHBOURS = 4;
/** A pause of this length between two memories of a channel ends a conversation. */
const PAUSE_MS = 10 * 60_000;
const MAX_QUERY = 2_000;
/** Maximum number of terms; of a longer query, the rarest terms are used. */
const MOST_TERMS = 200;
/** Terms in more memories than this, and in more than this share of all, are ignored if the query has rarer ones. */
const COMMON = 100;
const COMMON_SHARE = 1 / 8;
const NONE = -1;

/** Occurrences of a term: slot, count, slot, count … */
type Postings = Map<string, number[]>;

/** BM25 that also gives each text a part of its neighbours' weight. */
export function createSearch(index: MemoryIndex) {
  /** By slot. The slot of a deleted memory is used again. */
  const memories: (Memory | undefined)[] = [];
  const lengths: number[] = [];
  const moments: number[] = [];
  const previous: number[] = [];
  const next: number[] = [];
  const slots = new Map<string, number>();
  const free: number[] = [];
  const texts: Postings = new Map();
  /** Names of speaker and subject. They count for their own memory only, not for its neighbours. */
  const labels: Postings = new Map();
  /** The latest memory of each channel. */
  const latest = new Map<string, number>();
  let totalLength = 0;
  let isBuilt = false;
  /** Weights by slot, all 0 between searches: `near` of one term, `scores` of all terms. */
  let near = new Float64Array(0);
  let scores = new Float64Array(0);

  const follows = (slot: number, memory: Memory): boolean => {
    const other = memories[slot];
    return other !== undefined && inOrder(memory, other) < 0;
  };

  const link = (slot: number, memory: Memory) => {
    const { channelId } = memory;
    let [before, after] = [latest.get(channelId) ?? NONE, NONE];
    while (before !== NONE && follows(before, memory)) [before, after] = [previous[before] ?? NONE, before];
    previous[slot] = before;
    next[slot] = after;
    if (before !== NONE) next[before] = slot;
    if (after === NONE) latest.set(channelId, slot);
    else previous[after] = slot;
  };

  const unlink = (slot: number, { channelId }: Memory) => {
    const [before, after] = [previous[slot] ?? NONE, next[slot] ?? NONE];
    if (before !== NONE) next[before] = after;
    if (after !== NONE) previous[after] = before;
    else if (before !== NONE) latest.set(channelId, before);
    else latest.delete(channelId);
  };

  const add = (memory: Memory) => {
    const slot = free.pop() ?? memories.length;
    const terms = termsOf(memory.text);
    memories[slot] = memory;
    lengths[slot] = terms.length;
    moments[slot] = memory.at;
    totalLength += terms.length;
    slots.set(memory.id, slot);
    post(texts, slot, terms);
    post(labels, slot, termsOf(labelOf(memory)));
    link(slot, memory);
  };

  const remove = (memory: Memory) => {
    const slot = slots.get(memory.id);
    if (slot === undefined) return;
    unpost(texts, slot, termsOf(memory.text));
    unpost(labels, slot, termsOf(labelOf(memory)));
    unlink(slot, memory);
    totalLength -= lengths[slot] ?? 0;
    memories[slot] = undefined;
    slots.delete(memory.id);
    free.push(slot);
  };

  const build = () => {
    for (const memory of index.all()) if (isActive(memory)) add(memory);
    index.onChange((before, after) => {
      const slot = before === undefined ? undefined : slots.get(before.id);
      if (slot !== undefined && after !== undefined && before !== undefined && readsSame(before, after)) {
        memories[slot] = after;
        return;
      }
      if (before !== undefined) remove(before);
      if (after !== undefined && isActive(after)) add(after);
    });
    isBuilt = true;
  };

  /** Adds a term's weight to a memory and, in part, to those before and after it in the same conversation. */
  const spread = (slot: number, weight: number, touched: number[]) => {
    raise(slot, weight, touched);
    walk(previous, slot, weight, touched);
    walk(next, slot, weight, touched);
  };
  const walk = (links: readonly number[], from: number, weight: number, touched: number[]) => {
    let at = moments[from] ?? 0;
    let [to, share] = [links[from] ?? NONE, weight * NEIGHBOUR];
    for (let step = 0; step < MOST_NEIGHBOURS && to !== NONE; step++) {
      const moment = moments[to] ?? 0;
      if (Math.abs(moment - at) > PAUSE_MS) return;
      raise(to, share, touched);
      at = moment;
      to = links[to] ?? NONE;
      share *= NEIGHBOUR;
    }
  };
  const raise = (slot: number, weight: number, touched: number[]) => {
    if (near[slot] === 0) touched.push(slot);
    near[slot] = (near[slot] ?? 0) + weight;
  };

  /** The rarest terms of a query: terms that occur almost everywhere cost most and distinguish least. */
  const specificTerms = (terms: readonly string[]): readonly string[] => {
    const count = (term: string) => ((texts.get(term)?.length ?? 0) + (labels.get(term)?.length ?? 0)) / 2;
    const known = terms.filter((term) => count(term) > 0);
    const most = Math.max(COMMON, slots.size * COMMON_SHARE);
    const rare = known.filter((term) => count(term) <= most);
    return [...(rare.length > 0 ? rare : known)].sort((a, b) => count(a) - count(b)).slice(0, MOST_TERMS);
  };

  /** Adds a term's weight to the memories with it and to their neighbours; returns the slots. */
  const raiseWith = (term: string, isWantedAt: (slot: number) => boolean): readonly number[] => {
    const touched: number[] = [];
    const averageLength = totalLength / Math.max(1, slots.size);
    const [places = [], named = []] = [texts.get(term), labels.get(term)];
    for (let at = 0; at < places.length; at += 2) {
      const slot = places[at] ?? NONE;
      if (!isWantedAt(slot)) continue;
      const length = (lengths[slot] ?? 0) / averageLength;
      spread(slot, (places[at + 1] ?? 0) / (1 - LENGTH + LENGTH * length), touched);
    }
    for (let at = 0; at < named.length; at += 2) {
      const slot = named[at] ?? NONE;
      if (isWantedAt(slot)) raise(slot, 1, touched);
    }
    return touched;
  };

  /** Adds a term's score to each memory, and the slots that had no score before to `found`. */
  const addScores = (term: string, isWantedAt: (slot: number) => boolean, found: number[]) => {
    const touched = raiseWith(term, isWantedAt);
    let uses = 0;
    for (const slot of touched) uses += Math.min(1, near[slot] ?? 0);
    const rarity = Math.log(1 + (Math.max(0, slots.size - uses) + 0.5) / (uses + 0.5));
    for (const slot of touched) {
      const weight = near[slot] ?? 0;
      near[slot] = 0;
      if (scores[slot] === 0) found.push(slot);
      scores[slot] = (scores[slot] ?? 0) + (rarity * weight * (SATURATION + 1)) / (weight + SATURATION);
    }
  };

  const prepare = () => {
    if (!isBuilt) build();
    if (near.length >= memories.length) return;
    near = new Float64Array(2 * memories.length);
    scores = new Float64Array(2 * memories.length);
  };

  return {
    /** Replaces the relevance of each hit by the sum of its own and a part of its neighbours'. */
    addContext(hits: readonly Hit[]): void {
      prepare();
      const touched: number[] = [];
      for (const { memory, relevance } of hits) {
        const slot = slots.get(memory.id);
        if (slot !== undefined && relevance > 0) spread(slot, relevance, touched);
      }
      for (const hit of hits) hit.relevance = near[slots.get(hit.memory.id) ?? NONE] ?? 0;
      for (const slot of touched) near[slot] = 0;
    },
    /** Wanted memories with any term of the query. Others do not affect the scores. */
    find(query: string, isWanted: (memory: Memory) => boolean): Hit[] {
      prepare();
      const isWantedAt = (slot: number) => {
        const memory = memories[slot];
        return memory !== undefined && isWanted(memory);
      };
      const found: number[] = [];
      for (const term of specificTerms([...new Set(termsOf(query.slice(0, MAX_QUERY)))]))
        addScores(term, isWantedAt, found);
      const hits: Hit[] = [];
      for (const slot of found) {
        const [memory, relevance] = [memories[slot], scores[slot] ?? 0];
        scores[slot] = 0;
        if (memory !== undefined && isWanted(memory)) hits.push({ memory, relevance });
      }
      return hits;
    },
  };
}

/** Orders memories by time, and simultaneous ones by message id. */
function inOrder(one: Memory, other: Memory): number {
  const [id, otherId] = [one.messageId ?? '', other.messageId ?? ''];
  return one.at - other.at || id.length - otherId.length || (id < otherId ? -1 : id > otherId ? 1 : 0);
}

function readsSame(one: Memory, other: Memory): boolean {
  return isActive(other) && one.text === other.text && labelOf(one) === labelOf(other) && one.at === other.at;
}

/** The subject and speaker of a memory, as additional terms; a member's id carries no meaning. */
function labelOf({ subject, subjectName, speakerName }: Memory): string {
  return [
    isMember(subject) ? '' : subject,
    subjectName ?? '',
    subjectName === speakerName ? '' : (speakerName ?? ''),
  ].join(' ');
}

function post(postings: Postings, slot: number, terms: readonly string[]): void {
  for (const [term, count] of counted(terms)) {
    const places = postings.get(term);
    if (places === undefined) postings.set(term, [slot, count]);
    else places.push(slot, count);
  }
}

function unpost(postings: Postings, slot: number, terms: readonly string[]): void {
  for (const term of new Set(terms)) {
    const places = postings.get(term) ?? [];
    for (let at = 0; at < places.length; at += 2) {
      if (places[at] !== slot) continue;
      places.splice(at, 2);
      break;
    }
    if (places.length === 0) postings.delete(term);
  }
}

function counted(terms: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}
