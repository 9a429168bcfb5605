import { z } from '@cinnabar/sdk/worker';
import { tidy } from '../state/state.js';
import { applyCard, CardError, type CardProblem, type ImportedCard, readCard } from './read-card.js';

export function importCard(file: Uint8Array): ImportedCard | { readonly problem: CardProblem } {
  try {
    return applyCard(readCard(Buffer.from(file.buffer, file.byteOffset, file.byteLength)));
  } catch (error) {
    if (error instanceof CardError) return { problem: error.problem };
    throw error;
  }
}

export function lore({ rest, text }: { readonly rest: string; readonly text: string }): readonly string[] {
  return loreFor(rest, text);
}

const entry = z.object({
  keys: z.array(z.string()).catch([]),
  content: z.string().catch(''),
  enabled: z.boolean().catch(true),
  constant: z.boolean().catch(false),
  use_regex: z.boolean().catch(false),
  insertion_order: z.number().catch(0),
});
const book = z.object({ character_book: z.object({ entries: z.array(z.unknown()).catch([]) }) });

const MOST_ENTRIES = 1_000;
const MOST_TOLD = 12;
const MOST_CHARACTERS = 4_000;

/**
 * The entries of a card's book for a text, in the book's order: constant entries, and those with a key that occurs in the text. Keys are compared as words; a
 * pattern in a foreign card could take arbitrarily long to match. Runs in a worker, because thousands of short keys take seconds.
 * @param rest as returned by `applyCard`
 */
export function loreFor(rest: string, text: string): readonly string[] {
  const found = book.safeParse(JSON.parse(rest)).data?.character_book.entries ?? [];
  const heard = text.toLowerCase();
  const told = found
    .slice(0, MOST_ENTRIES)
    .flatMap((one) => entry.safeParse(one).data ?? [])
    .filter(
      ({ enabled, constant, use_regex: isPattern, keys }) =>
        enabled && (constant || (!isPattern && keys.some((key) => occurs(key, heard)))),
    )
    .sort((a, b) => a.insertion_order - b.insertion_order)
    .map(({ content }) => tidy(content, MOST_CHARACTERS))
    .filter((content) => content !== '');
  let room = MOST_CHARACTERS;
  return told.slice(0, MOST_TOLD).filter((content) => {
    room -= content.length;
    return room >= 0;
  });
}

function occurs(key: string, heard: string): boolean {
  const word = key.trim().toLowerCase();
  return word !== '' && heard.includes(word);
}
