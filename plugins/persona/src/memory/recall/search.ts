import MiniSearch from 'minisearch';
import { stands } from '../table/order.js';
import type { Table } from '../table/table.js';
import { topicsOf } from '../text/topics.js';
import { termOf, termsOf } from '../text/words.js';
import type { Memory } from '../types.js';

/** Full-text search over what stands in a table. The index is built at the first search and then follows the table. */
export interface Search {
  /** BM25 scores of those that have any of the terms and are wanted. */
  find(terms: readonly string[], wanted: (memory: Memory) => boolean): ReadonlyMap<string, number>;
  /** Whether anybody used the word, in whatever form. */
  knows(word: string): boolean;
}

/** What it is about, in general, counts less than what was said. */
const BOOST = { text: 1, label: 0.6 };

export function createSearch(table: Table): Search {
  /** Terms of the texts, and in how many memories each is. */
  const vocabulary = new Map<string, number>();
  let index: MiniSearch<Memory> | undefined;
  /** The index splits a text both when it is added and when it is removed. */
  let counting: 1 | -1 = 1;

  const split = (text: string, field?: string): string[] => {
    if (field === 'label')
      return text
        .split(' ')
        .filter((word) => word !== '')
        .map((word) => (word.startsWith('#') ? word : termOf(word)));
    const terms = [...termsOf(text)];
    for (const term of new Set(terms)) {
      const uses = (vocabulary.get(term) ?? 0) + counting;
      if (uses > 0) vocabulary.set(term, uses);
      else vocabulary.delete(term);
    }
    return terms;
  };

  const build = (): MiniSearch<Memory> => {
    const built = new MiniSearch<Memory>({
      fields: ['text', 'label'],
      extractField: (memory, field) => (field === 'label' ? labelOf(memory) : field === 'id' ? memory.id : memory.text),
      tokenize: split,
      processTerm: (term) => term,
      searchOptions: { tokenize: (query) => query.split(' '), boost: BOOST, combineWith: 'OR' },
      // Vacuuming keeps timers; what is removed here leaves nothing behind.
      autoVacuum: false,
    });
    built.addAll([...table.all()].filter(stands));
    table.onChange((before, after) => {
      if (before !== undefined && after !== undefined && reads(before) === reads(after)) return;
      if (before !== undefined && stands(before)) {
        counting = -1;
        built.remove(before);
        counting = 1;
      }
      if (after !== undefined && stands(after)) built.add(after);
    });
    return built;
  };

  return {
    find(terms, wanted) {
      index ??= build();
      if (terms.length === 0) return new Map();
      const results = index.search([...terms, ...topicsOf(terms)].join(' '), {
        boostDocument(id) {
          const memory = table.get(String(id));
          return memory !== undefined && wanted(memory) ? 1 : 0;
        },
      });
      return new Map(results.map(({ id, score }) => [String(id), score]));
    },
    knows(word) {
      index ??= build();
      return vocabulary.has(termOf(word));
    },
  };
}

/** What the index has of a memory. */
const reads = (memory: Memory): string => (stands(memory) ? `${memory.text}\n${labelOf(memory)}` : '');

/** What a memory is about beside its words; a member's id says nothing. */
function labelOf({ subject, attribute, text }: Memory): string {
  const topic = /^\d+$/.test(subject) ? '' : subject;
  const named = attribute?.startsWith('taste: ') === true ? '' : (attribute ?? '');
  return [topic, named, ...topicsOf(termsOf(text))].join(' ');
}
