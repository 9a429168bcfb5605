import { type Corpus, createCorpus, type Query } from './memory/corpus.js';
import { trigramVectors } from './memory/embedding.js';
import { locomoIn, type Question } from './memory/locomo.js';
import { fill } from './memory/ours.js';
import { bm25, type Finder, mostRecent, stemmedBm25 } from './memory/peers.js';
import { above, atLeast, compare, type Figure, limit, median, percentile } from './report.js';

const STARTED = Date.UTC(2026, 0, 1);
const SEEDS = [2026, 2027, 2028];
const UTTERANCES = 5_000;
const MEMORIES = 10_000;
const LIMIT = 5;
/** The user who asks about other people's conversations. */
const STRANGER = '300000000000000000';
const RECENT = 50;
/** Number of repetitions after one that is not counted. */
const ROUNDS = 5;

/** Minimum advantage over stemmed BM25, on public conversations. */
const LEAST_LEAD = 3;

/** @param folder conversations of LoCoMo, which are evaluated first if given */
export async function* memory(folder: string | undefined): AsyncGenerator<Figure> {
  if (folder !== undefined) yield* publicConversations(folder);
  yield* generatedChannel();
}

/**
 * Questions about long conversations from public data. Each turn is added as one memory by its speaker with its time, and a third person asks: the figures are
 * the shares of the evidence among the first results.
 */
async function* publicConversations(folder: string): AsyncGenerator<Figure> {
  const ours: Recall[] = [];
  const embedded: Recall[] = [];
  const everything: Recall[] = [];
  const stemmed: Recall[] = [];
  for (const conversation of locomoIn(folder)) {
    const { utterances, questions } = conversation;
    const [first] = utterances;
    await using plain = await fill(conversation, first?.at ?? 0);
    await using withVectors = await fill(conversation, first?.at ?? 0, trigramVectors);
    await withVectors.embedded();
    const finders = [
      [ours, plain.finder],
      [embedded, withVectors.finder],
      [everything, bm25(conversation)],
      [stemmed, stemmedBm25(conversation)],
    ] as const;
    for (const question of questions) {
      for (const [recalls, finder] of finders) recalls.push(await recallOf(question, finder));
    }
  }
  const name = `LoCoMo, evidence in the first ${LIMIT}`;
  const mean = (of: readonly Recall[], which: 'first' | 'more' = 'first') =>
    (100 * of.reduce((sum, one) => sum + one[which], 0)) / of.length;
  const ofTime = (of: readonly Recall[]) => of.filter(({ isOfTime }) => isOfTime);
  const peerName = 'stemmed BM25';
  yield above({ name, unit: '%', ours: mean(ours), peer: mean(stemmed), peerName }, LEAST_LEAD);
  yield above(
    {
      name: `${name}, with embeddings from a stand-in`,
      unit: '%',
      ours: mean(embedded),
      peer: mean(stemmed),
      peerName,
    },
    LEAST_LEAD,
  );
  yield compare({
    name: `${name}, beside plain BM25`,
    unit: '%',
    ours: mean(ours),
    peer: mean(everything),
    peerName: 'BM25',
  });
  yield compare({
    name: `${name}, questions of time`,
    unit: '%',
    ours: mean(ofTime(ours)),
    peer: mean(ofTime(stemmed)),
    peerName,
  });
  yield compare({
    name: `LoCoMo, evidence in the first ${2 * LIMIT}`,
    unit: '%',
    ours: mean(ours, 'more'),
    peer: mean(stemmed, 'more'),
    peerName,
  });
}

/** Shares of a question's evidence among the first 5 and 10 results. */
interface Recall {
  readonly first: number;
  readonly more: number;
  readonly isOfTime: boolean;
}

async function recallOf({ text, evidence, isOfTime }: Question, finder: Finder): Promise<Recall> {
  const query = { text, askedBy: STRANGER, about: null, evidence: null, outdated: [], unforeseen: false };
  const found = await finder.find(query, 2 * LIMIT);
  const share = (count: number) => evidence.filter((id) => found.slice(0, count).includes(id)).length / evidence.length;
  return { first: share(LIMIT), more: share(2 * LIMIT), isOfTime };
}

/**
 * Questions about messages in a generated channel: 5,000 lines by 12 people, with facts, updates, contradictions and deletions among small talk. The persona's
 * memory receives every line as it is written, without a model's help. The peers receive the same lines without the deleted ones.
 */
async function* generatedChannel(): AsyncGenerator<Figure> {
  const totals = { ours: tally(), everything: tally(), stemmed: tally(), recent: tally() };
  for (const seed of SEEDS) {
    const corpus = createCorpus(seed, UTTERANCES, STARTED);
    await using filled = await fill(corpus, STARTED);
    await judge(totals.ours, corpus, filled.finder);
    await judge(totals.everything, corpus, bm25(corpus));
    await judge(totals.stemmed, corpus, stemmedBm25(corpus));
    await judge(totals.recent, corpus, mostRecent(corpus, RECENT));
  }
  const { ours, everything, stemmed, recent } = totals;
  const share = (part: number, of: number) => (100 * part) / of;
  const recall = (one: Tally) => share(one.found, one.answerable);
  const peers = [
    { peerName: 'BM25 over everything', one: everything },
    { peerName: 'stemmed BM25 over everything', one: stemmed },
    { peerName: `the most recent ${RECENT}`, one: recent },
  ];
  for (const { peerName, one } of peers) {
    const name = `evidence in the first ${LIMIT}`;
    yield compare({ name, unit: '%', ours: recall(ours), peer: recall(one), peerName });
    yield compare({
      name: `${name}, kinds of facts that no list of topics foresees`,
      unit: '%',
      ours: share(ours.unforeseenFound, ours.unforeseen),
      peer: share(one.unforeseenFound, one.unforeseen),
      peerName,
    });
  }
  const more = recall(ours) - Math.max(...peers.map(({ one }) => recall(one)));
  yield atLeast(`evidence in the first ${LIMIT}, more than the best peer`, 'percentage points', more, 0);
  yield limit('facts of deleted messages returned', 'facts', ours.deleted, 0);
  for (const { key, name, unit } of [
    { key: 'wrong', name: "results that are another person's facts", unit: '%' },
    { key: 'outdated', name: 'results that are outdated', unit: '%' },
  ] as const) {
    const of = (one: Tally) => share(one[key], one.results);
    yield compare({ name, unit, ours: of(ours), peer: of(everything), peerName: 'BM25 over everything' });
  }
  const misled = (one: Tally) => share(one.misled, one.updated);
  yield compare({
    name: 'an outdated fact before the one in its place, where either was found',
    unit: '%',
    ours: misled(ours),
    peer: misled(everything),
    peerName: 'BM25 over everything',
  });
  yield* latency();
}

/** Time of a search in a warm index; the first search after a start builds it. */
async function* latency(): AsyncGenerator<Figure> {
  const corpus = createCorpus(1, MEMORIES, STARTED);
  await using filled = await fill({ ...corpus, deleted: new Set() }, STARTED);
  const name = `a retrieval from ${MEMORIES.toLocaleString('en')} memories, 95th percentile of questions (each the median of ${ROUNDS})`;
  const ours = await timed(filled.finder, corpus.queries);
  const peer = await timed(bm25(corpus), corpus.queries);
  yield limit(name, 'ms', percentile(ours, 95), 5);
  yield compare({
    name,
    unit: 'ms',
    ours: percentile(ours, 95),
    peer: percentile(peer, 95),
    peerName: 'BM25 over everything',
  });
  yield compare({
    name: 'an addition, on the disk, 95th percentile',
    unit: 'ms',
    ours: percentile(filled.addMs.slice(MEMORIES / 2), 95),
    peer: percentile(filled.addMs.slice(0, MEMORIES / 2), 95),
    peerName: 'with half as many memories',
  });
}

/** Asks every question several times, at intervals, and takes the median of each, which reduces the influence of other load on the machine. */
async function timed(finder: Finder, queries: readonly Query[]): Promise<readonly number[]> {
  const took = queries.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, query] of queries.entries()) {
      const started = performance.now();
      await finder.find(query, LIMIT);
      if (round > 0) took[index]?.push(performance.now() - started);
    }
  }
  return took.map(median);
}

interface Tally {
  answerable: number;
  found: number;
  unforeseen: number;
  unforeseenFound: number;
  /** Questions with an earlier and a current answer of which one was found; and among them, those for which the earlier one ranked first. */
  updated: number;
  misled: number;
  results: number;
  wrong: number;
  outdated: number;
  deleted: number;
}

const tally = (): Tally => ({
  answerable: 0,
  found: 0,
  unforeseen: 0,
  unforeseenFound: 0,
  updated: 0,
  misled: 0,
  results: 0,
  wrong: 0,
  outdated: 0,
  deleted: 0,
});

async function judge(into: Tally, corpus: Corpus, finder: Finder): Promise<void> {
  const said = new Map(corpus.utterances.map((utterance) => [utterance.messageId, utterance]));
  for (const query of corpus.queries) {
    const found = await finder.find(query, LIMIT);
    into.results += found.length;
    into.deleted += found.filter((id) => corpus.deleted.has(id)).length;
    into.outdated += found.filter((id) => query.outdated.includes(id)).length;
    into.wrong += found.filter((id) => said.get(id)?.fact === true && said.get(id)?.subject !== query.about).length;
    if (query.evidence === null) continue;
    const { evidence, outdated, unforeseen } = query;
    const hit = found.includes(evidence) ? 1 : 0;
    into.answerable++;
    into.found += hit;
    if (unforeseen) {
      into.unforeseen++;
      into.unforeseenFound += hit;
    }
    const first = found.find((id) => id === evidence || outdated.includes(id));
    if (outdated.length === 0 || first === undefined) continue;
    into.updated++;
    if (first !== evidence) into.misled++;
  }
}
