import { UserError } from '@cinnabar/sdk';
import { type Item, LIMITS, type Origin, type Revision, type StoredPersona } from './schema.js';

/** Adds a goal or desire. @throws UserError when it is there already, or there are too many */
export function addItem(items: Item[], given: Given, what: string): void {
  const { text, userId, at, origin = null } = given;
  if (visibleTo(items, at).some((item) => sameText(item.text, text))) throw new UserError(`That is a ${what} already.`);
  // What came of private talk elsewhere must not show here, not even by the room that it takes.
  if (visibleTo(items, at).length >= LIMITS.items) {
    throw new UserError(`There are ${LIMITS.items} ${what}s already: one has to go before another is added.`);
  }
  items.push({ text: text.slice(0, LIMITS.short), userId, origin });
}

interface Given {
  readonly text: string;
  readonly userId: string | null;
  readonly at: Audience;
  readonly origin?: Origin;
}

/** A place where a state is told. */
export interface Audience {
  readonly channelId: string;
  /** Whether everybody who reads here may read that channel now. */
  isOpen(channelId: string): boolean;
}

/** Those that may be told there: what came of talk elsewhere only as long as everybody here may read where that was. */
export function visibleTo(items: readonly Item[], { channelId, isOpen }: Audience): readonly Item[] {
  return items.filter(
    ({ origin }) =>
      origin === null || origin.channelId === channelId || (!origin.isPrivate && isOpen(origin.channelId)),
  );
}

/** Removes the one of that text or number (from 1) among those told in the channel, and returns it. @throws UserError when there is none */
export function removeItem(items: Item[], named: string, at: Audience, what: string): string {
  const told = visibleTo(items, at);
  const item = told[indexOf(told, named.trim())];
  if (item === undefined) throw new UserError(`There is no such ${what}.`);
  items.splice(items.indexOf(item), 1);
  return item.text;
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

type Lists = Pick<Revision['before'], 'goals' | 'desires'>;

/** The history cuts what it tells. */
const TOLD = 150;

/** Goals and desires that are kept, as they are and as they were. */
export function itemsIn({ state, history }: StoredPersona): readonly Item[] {
  return [state, ...history.map(({ before }) => before)].flatMap(({ goals = [], desires = [] }: Lists) => [
    ...goals,
    ...desires,
  ]);
}

/** Takes some out for good: from what holds, from what can be brought back, and from what the history tells of. */
export function dropItems(draft: StoredPersona, isGone: (item: Item) => boolean): void {
  const texts = itemsIn(draft)
    .filter(isGone)
    .map(({ text }) => text.slice(0, TOLD));
  const strip = (lists: Lists) => {
    if (lists.goals !== undefined) lists.goals = lists.goals.filter((item) => !isGone(item));
    if (lists.desires !== undefined) lists.desires = lists.desires.filter((item) => !isGone(item));
  };
  strip(draft.state);
  for (const revision of draft.history) {
    strip(revision.before);
    revision.what = revision.what.filter((what) => !texts.some((text) => what.includes(text)));
  }
}
