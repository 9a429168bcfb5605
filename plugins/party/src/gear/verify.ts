import { nameKey } from '../roster/names.js';
import { missingEntries } from './coverage.js';
import type { Distribution } from './distribution.js';
import { normaliseLines } from './spans.js';
import { traceItems } from './trace.js';

const MOST_ITEMS = 100;

/**
 * What is wrong with a model's distribution, in sentences that the model can act on; none when it may be shown.
 * @param characters names of those who may receive something
 */
export function findProblems(
  distribution: Distribution,
  description: string,
  characters: readonly string[],
): readonly string[] {
  const text = normaliseLines(description);
  if (distribution.items.length > MOST_ITEMS) return [`There are more than ${MOST_ITEMS} items.`];
  const { problems, claimed } = traceItems(text, distribution.items);
  return [
    ...problems,
    ...missingEntries(text, claimed, distribution.not_loot).map(
      (entry) => `Nothing accounts for "${entry}": it is neither an item nor in not_loot.`,
    ),
    ...itemProblems(distribution),
    ...characterProblems(distribution, characters),
  ];
}

function itemProblems({ items, assignments }: Distribution): string[] {
  const problems: string[] = [];
  const ids = new Set(items.map(({ id }) => id));
  if (ids.size < items.length) problems.push('Two items have the same id.');
  for (const { id, name, amount } of items) {
    if (!Number.isSafeInteger(amount) || amount < 1)
      problems.push(`The amount of item ${id} ("${name}") is no whole number from 1 on.`);
    const times = assignments.filter(({ item_id }) => item_id === id).length;
    if (times !== 1) problems.push(`The item ${id} ("${name}") is assigned ${times} times instead of once.`);
  }
  for (const { item_id } of assignments) {
    if (!ids.has(item_id)) problems.push(`There is no item ${item_id}, but it is assigned.`);
  }
  return problems;
}

function characterProblems({ assignments }: Distribution, characters: readonly string[]): string[] {
  const known = new Set(characters.map(nameKey));
  const unknown = new Set(assignments.map(({ character }) => character).filter((name) => !known.has(nameKey(name))));
  return [...unknown].map((name) => `"${name}" is not one of the characters who may receive something.`);
}
