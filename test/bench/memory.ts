import { type Corpus, createCorpus, type Query } from './memory/corpus.js';
import { fill } from './memory/ours.js';
import { bm25, type Finder, mostRecent } from './memory/peers.js';
import { atLeast, compare, type Figure, limit, percentile } from './report.js';

const STARTED = Date.UTC(2026, 0, 1);
const SEEDS = [2026, 2027, 2028];
const UTTERANCES = 5_000;
const MEMORIES = 10_000;
const LIMIT = 5;
const RECENT = 50;
const WARM_UP = 200;

/**
 * Questions about what was said in a generated channel: 5,000 lines by 12 people, with facts, updates, contradictions and deletions among small
 * talk. The persona's memory is told every line as it comes; no model helps it. The peers have the same lines without the deleted ones.
 */
export async function* memory(): AsyncGenerator<Figure> {
  const totals = { ours: tally(), everything: tally(), recent: tally() };
  for (const seed of SEEDS) {
    const corpus = createCorpus(seed, UTTERANCES, STARTED);
    await using filled = await fill(corpus, STARTED);
    await judge(totals.ours, corpus, filled.finder);
    await judge(totals.everything, corpus, bm25(corpus));
    await judge(totals.recent, corpus, mostRecent(corpus, RECENT));
  }
  const { ours, everything, recent } = totals;
  const share = (part: number, of: number) => (100 * part) / of;
  const recall = (one: Tally) => share(one.found, one.answerable);
  const peers = [
    { peerName: 'BM25 over everything', one: everything },
    { peerName: `the most recent ${RECENT}`, one: recent },
  ];
  for (const { peerName, one } of peers) {
    yield compare({
      name: `evidence in the first ${LIMIT}`,
      unit: '%',
      ours: recall(ours),
      peer: recall(one),
      peerName,
    });
  }
  yield atLeast(`evidence in the first ${LIMIT}`, '%', recall(ours), Math.max(recall(everything), recall(recent)));
  yield limit("results that are another person's facts", '%', share(ours.wrong, ours.results), 0);
  yield limit('facts of deleted messages returned', 'facts', ours.deleted, 0);
  for (const { key, name, unit } of [
    { key: 'wrong', name: "results that are another person's facts", unit: '%' },
    { key: 'outdated', name: 'results that are outdated', unit: '%' },
  ] as const) {
    const of = (one: Tally) => share(one[key], one.results);
    yield compare({ name, unit, ours: of(ours), peer: of(everything), peerName: 'BM25 over everything' });
  }
  yield* latency();
}

/** Of a warm index; the first question after a start builds it. */
async function* latency(): AsyncGenerator<Figure> {
  const corpus = createCorpus(1, MEMORIES, STARTED);
  await using filled = await fill({ ...corpus, deleted: new Set() }, STARTED);
  const name = `a retrieval from ${MEMORIES.toLocaleString('en')} memories, 95th percentile`;
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

async function timed(finder: Finder, queries: readonly Query[]): Promise<readonly number[]> {
  const took: number[] = [];
  for (const [index, query] of [...queries.slice(0, WARM_UP), ...queries, ...queries].entries()) {
    const started = performance.now();
    await finder.find(query, LIMIT);
    if (index >= WARM_UP) took.push(performance.now() - started);
  }
  return took;
}

interface Tally {
  answerable: number;
  found: number;
  unforeseen: number;
  unforeseenFound: number;
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
    const hit = found.includes(query.evidence) ? 1 : 0;
    into.answerable++;
    into.found += hit;
    if (!query.unforeseen) continue;
    into.unforeseen++;
    into.unforeseenFound += hit;
  }
}
