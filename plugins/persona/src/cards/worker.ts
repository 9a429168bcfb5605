/** What a stranger made is read in a worker thread: cards, and the books in them. */
import { applyCard, type ImportedCard } from './apply.js';
import { loreFor } from './lore.js';
import { readCard } from './read.js';

/** @throws UserError saying what is wrong with the file */
export function importCard(file: Uint8Array): ImportedCard {
  return applyCard(readCard(Buffer.from(file.buffer, file.byteOffset, file.byteLength)));
}

export function lore({ rest, text }: { readonly rest: string; readonly text: string }): readonly string[] {
  return loreFor(rest, text);
}
