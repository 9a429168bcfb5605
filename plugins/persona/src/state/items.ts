import { UserError } from '@cinnabar/sdk';
import { type Item, LIMITS } from './schema.js';

/** Adds a goal or desire. @throws UserError when it is there already, or there are too many */
export function addItem(items: Item[], text: string, userId: string | null, what: string): void {
  if (items.some((item) => sameText(item.text, text))) throw new UserError(`That is a ${what} already.`);
  if (items.length >= LIMITS.items) {
    throw new UserError(`There are ${LIMITS.items} ${what}s already: one has to go before another is added.`);
  }
  items.push({ text: text.slice(0, LIMITS.short), userId });
}

/** Removes the one of that text or number (from 1), and returns it. @throws UserError when there is none */
export function removeItem(items: Item[], named: string, what: string): string {
  const index = indexOf(items, named.trim());
  const [removed] = index < 0 ? [] : items.splice(index, 1);
  if (removed === undefined) throw new UserError(`There is no such ${what}.`);
  return removed.text;
}

function indexOf(items: readonly Item[], named: string): number {
  const exact = items.findIndex(({ text }) => sameText(text, named));
  if (exact >= 0) return exact;
  if (/^\d{1,3}$/.test(named)) return items[Number(named) - 1] === undefined ? -1 : Number(named) - 1;
  const wanted = plain(named);
  return wanted === '' ? -1 : items.findIndex(({ text }) => plain(text).includes(wanted));
}

function sameText(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
