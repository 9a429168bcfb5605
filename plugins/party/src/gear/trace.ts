import type { Distribution } from './distribution.js';
import { digitsAt } from './quantity.js';
import { normalise, occurrences, overlaps, type Span } from './spans.js';

/** How far from a thing the words may stand that say how many there are. */
const NEAR = 20;

interface Traced {
  readonly problems: readonly string[];
  /** What of the description the items account for. */
  readonly claimed: readonly Span[];
}

/**
 * Checks that each item comes from the description and that all shares of a thing together are as much of it as the description says in
 * digits; of words for numbers it checks only that they are there.
 * Longer quotes claim their words first, so that "Rifle" cannot be taken out of "Assault Rifle" a second time.
 * @param text the normalised description
 */
export function traceItems(text: string, items: Distribution['items']): Traced {
  const claimed: Span[] = [];
  const problems: string[] = [];
  for (const [quote, group] of byQuote(items)) {
    const all = occurrences(text, quote);
    const free = all.filter((span) => !overlaps(span, claimed));
    if (all.length === 0) {
      problems.push(`"${quote}" is not in the description.`);
    } else if (free.length === 0) {
      problems.push(`"${quote}" is already part of another item.`);
    } else {
      const amount = group.reduce((sum, item) => sum + item.amount, 0);
      const used = spansFor(text, free, amount, numberWords(group));
      if (used === undefined) problems.push(wrongNumber(text, free, quote, amount));
      claimed.push(...(used ?? free));
    }
    for (const { name } of group) {
      if (!sharesWord(name, quote)) problems.push(`The item "${name}" does not come from "${quote}".`);
    }
  }
  return { problems, claimed };
}

/** The longest quote first. */
function byQuote(items: Distribution['items']): [quote: string, items: Distribution['items']][] {
  const groups = new Map<string, Distribution['items']>();
  for (const item of items) {
    const quote = normalise(item.from);
    groups.set(quote, [...(groups.get(quote) ?? []), item]);
  }
  return [...groups].sort(([a], [b]) => b.length - a.length);
}

/** What the model says stands there for the number, unless it is digits: those are counted here. */
function numberWords(group: Distribution['items']): string {
  const words = normalise(group.find(({ number }) => number.trim() !== '')?.number ?? '');
  return /\d/.test(words) ? '' : words;
}

/** The first occurrences that together speak of exactly `amount` things; `undefined` when none do. */
function spansFor(text: string, free: readonly Span[], amount: number, words: string): readonly Span[] | undefined {
  let known = 0;
  for (const [index, { start, end }] of free.entries()) {
    const digits = digitsAt(text, start, end);
    known += digits ?? 1;
    const isInWords =
      digits === undefined && words !== '' && text.slice(Math.max(0, start - NEAR), end + NEAR).includes(words);
    if (amount === known || isInWords) return free.slice(0, index + 1);
  }
  return undefined;
}

function wrongNumber(text: string, free: readonly Span[], quote: string, amount: number): string {
  const expected = free.reduce((sum, { start, end }) => sum + (digitsAt(text, start, end) ?? 1), 0);
  return `"${quote}" is ${expected} in the description, but the amounts of its items make ${amount}.`;
}

/** Singular or plural, and other endings: the words agree in all but the last letters. */
function sharesWord(name: string, quote: string): boolean {
  const quoted = words(quote);
  return words(normalise(name)).some((word) =>
    quoted.some((other) => other.startsWith(stem(word)) || word.startsWith(stem(other))),
  );
}

function words(text: string): string[] {
  return text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

function stem(word: string): string {
  return word.slice(0, Math.max(Math.min(3, word.length), word.length - 2));
}
