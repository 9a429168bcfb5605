import type { Distribution } from './distribution.js';
import { quantityAt } from './quantity.js';
import { normalise, occurrences, overlaps, type Span } from './spans.js';

/** From here on a number may stand for one stack (200 eddies, 30 rounds) as well as for single things. */
const STACK = 10;

interface Traced {
  readonly problems: readonly string[];
  /** What of the description the items account for. */
  readonly claimed: readonly Span[];
}

/**
 * Checks that each item comes from the description and that none is there more often than the description says.
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
      const used = spansFor(text, free, group.length);
      if (used === undefined) problems.push(wrongNumber(text, free, quote, group.length));
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

/** The first occurrences that together speak of exactly `count` things; `undefined` when none do. */
function spansFor(text: string, free: readonly Span[], count: number): readonly Span[] | undefined {
  let single = 0;
  let stacked = 0;
  for (const [index, { start, end }] of free.entries()) {
    const quantity = quantityAt(text, start, end);
    single += quantity;
    stacked += quantity >= STACK ? 1 : quantity;
    if (count === single || count === stacked) return free.slice(0, index + 1);
  }
  return undefined;
}

function wrongNumber(text: string, free: readonly Span[], quote: string, count: number): string {
  const expected = free.reduce((sum, { start, end }) => sum + quantityAt(text, start, end), 0);
  return `"${quote}" is ${expected} in the description, but there ${count === 1 ? 'is 1 item' : `are ${count} items`} for it.`;
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
