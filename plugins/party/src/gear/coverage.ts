import { normalise, occurrences, overlaps, type Span } from './spans.js';

/** Captured, so that splitting keeps what was between the entries. */
const SEPARATOR = /([,;&]|\band\b|\bplus\b)/u;
/** "We got", "they found": what leads up to the loot. */
const LEAD_IN = /^.*?\b(?:got|found|looted|have|took|picked up|grabbed|scored|bought|received)\b/u;
/** Words of a story or a request rather than of a list. */
const STORY = /\b(?:from|who|what|then|we|i|they|should|please|share|split|distribute|was|were)\b/u;
const LONGEST_ENTRY = 5;

/**
 * Finds entries of a plain list ("Assault Rifle, Body Armor, …") that nothing accounts for. What reads like a story is left to the model.
 * @param text the normalised description
 */
export function missingEntries(text: string, claimed: readonly Span[], notLoot: readonly string[]): string[] {
  const accounted = [...claimed, ...notLoot.flatMap((part) => occurrences(text, normalise(part)))];
  return entries(text)
    .filter((span) => looksLikeLoot(text.slice(span.start, span.end)) && !overlaps(span, accounted))
    .map(({ start, end }) => text.slice(start, end).trim());
}

function entries(text: string): Span[] {
  const found: Span[] = [];
  let start = 0;
  for (const [index, piece] of text.split(SEPARATOR).entries()) {
    const isSeparator = index % 2 === 1;
    const leadIn = LEAD_IN.exec(piece)?.[0].length ?? 0;
    if (!isSeparator) found.push({ start: start + leadIn, end: start + piece.length });
    start += piece.length;
  }
  return found;
}

function looksLikeLoot(entry: string): boolean {
  const words = entry.match(/[\p{L}\p{N}\p{M}'’-]+/gu) ?? [];
  return words.length > 0 && words.length <= LONGEST_ENTRY && /\p{L}/u.test(entry) && !STORY.test(entry);
}
