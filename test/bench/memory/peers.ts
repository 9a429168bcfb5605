import { termsOf } from '@cinnabar/plugin-persona/memory/text/words';
import MiniSearch, { type Options } from 'minisearch';
import type { Corpus, Query, Speaker, Utterance } from './corpus.js';

/** Finds messages for a question; the ids, best first. */
export interface Finder {
  readonly name: string;
  find(query: Query, limit: number): Promise<readonly string[]>;
}

/** How every finder but ours gets the question: with names in the place of mentions and of "I", which it cannot resolve. */
export function plainQuestion({ text, askedBy, about }: Query, speakers: readonly Speaker[]): string {
  const nameOf = (id: string | null) => speakers.find((speaker) => speaker.id === id)?.name ?? '';
  const named = text.replaceAll(/<@(\d+)>/g, (_, id: string) => nameOf(id));
  return askedBy === about ? `${named} ${nameOf(about)}` : named;
}

/** BM25 over all that was said and not deleted, each line with its speaker's name. */
export const bm25 = (corpus: Corpus): Finder => finderOf('BM25 over everything', corpus, {});

/** The same with the words as our own index has them: stems, without empty words. */
export const stemmedBm25 = (corpus: Corpus): Finder =>
  finderOf('stemmed BM25 over everything', corpus, {
    tokenize: (text) => [...termsOf(text)],
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

/** What a mind without a memory has before it; anything in the last fifty messages counts as found, without ranking. */
export function mostRecent(corpus: Corpus, count: number): Finder {
  const recent = standing(corpus)
    .slice(-count)
    .map(({ messageId }) => messageId);
  return { name: `the most recent ${count}`, find: async () => recent };
}

const standing = ({ utterances, deleted }: Corpus) => utterances.filter(({ messageId }) => !deleted.has(messageId));
