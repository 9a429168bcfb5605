import MiniSearch, { type Options } from 'minisearch';
import { stemmer } from 'stemmer';
import type { Corpus, Query, Speaker, Utterance } from './corpus.js';

/** Searches messages for a question; returns ids, best first. */
export interface Finder {
  readonly name: string;
  find(query: Query, limit: number): Promise<readonly string[]>;
}

/** The question for all searchers but ours: mentions and "I" are replaced by names, because they cannot resolve them. */
function plainQuestion({ text, askedBy, about }: Query, speakers: readonly Speaker[]): string {
  const nameOf = (id: string | null) => speakers.find((speaker) => speaker.id === id)?.name ?? '';
  const named = text.replaceAll(/<@(\d+)>/g, (_, id: string) => nameOf(id));
  return askedBy === about ? `${named} ${nameOf(about)}` : named;
}

/** BM25 over all messages that were not deleted, each with its speaker's name. */
export const bm25 = (corpus: Corpus): Finder => finderOf('BM25 over everything', corpus, {});

/** The same with English stemming and stop words. */
export const stemmedBm25 = (corpus: Corpus): Finder =>
  finderOf('stemmed BM25 over everything', corpus, {
    tokenize: stemsOf,
    processTerm: (term) => term,
  });

function finderOf(name: string, corpus: Corpus, options: Partial<Options<Utterance>>): Finder {
  const index = new MiniSearch<Utterance>({
    ...options,
    idField: 'messageId',
    fields: ['line'],
    extractField: (utterance, field) =>
      field === 'line' ? `${utterance.speaker.name}: ${utterance.text}` : utterance.messageId,
  });
  index.addAll(standing(corpus));
  return {
    name,
    find: async (query, limit) =>
      index
        .search(plainQuestion(query, corpus.speakers))
        .slice(0, limit)
        .map(({ id }) => String(id)),
  };
}

/** The context of a responder without memory; anything in the last fifty messages counts as found, without ranking. */
export function mostRecent(corpus: Corpus, count: number): Finder {
  const recent = standing(corpus)
    .slice(-count)
    .map(({ messageId }) => messageId);
  return { name: `the most recent ${count}`, find: async () => recent };
}

const standing = ({ utterances, deleted }: Corpus) => utterances.filter(({ messageId }) => !deleted.has(messageId));

const EMPTY: ReadonlySet<string> = new Set(
  `a about actually after ah all also am an and any are aren as at be because been before being btw but by can could d did didn do does
  doesn doing don done ever for from get gets getting got had has have having he hello hey hi hm hmm i if im in into is isn it its ive just ll
  lol m maybe me more most much my myself now of oh ok okay on or our ours out over quite re really s same she so some still such t than thanks
  how should must might shall him her his hers he she they us one ones which let lets again ever go goes going went say says said tell told
  that the their theirs them then there these they this those to too up us ve very was wasn we well were weren what when where which while who
  whom whose why will with won would wouldn yeah yes you your yours`.split(/\s+/),
);

function stemsOf(text: string): string[] {
  const words = text.normalize('NFKC').match(/[\p{L}\p{N}\p{M}]+(?:[''’][\p{L}]+)*/gu) ?? [];
  const plain = words.map((word) =>
    word
      .replace(/[''’]s$/iu, '')
      .toLowerCase()
      .replaceAll(/['’]/g, ''),
  );
  const telling = plain.filter((word) => !EMPTY.has(word));
  return (telling.length > 0 ? telling : plain).map((word) => (/^[a-z]{3,30}$/.test(word) ? stemmer(word) : word));
}
