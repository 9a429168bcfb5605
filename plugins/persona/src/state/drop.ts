import type { Item, Revision, StoredPersona } from './schema.js';

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
