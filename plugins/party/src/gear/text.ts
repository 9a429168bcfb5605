import { nameKey, shown } from '../roster/names.js';
import type { Candidates } from './candidates.js';
import type { Distribution } from './distribution.js';

const LONGEST_REASON = 200;

/** The recommendations as a list by character, then who and what was left out. */
export function recommendationText(distribution: Distribution, candidates: Candidates): string {
  const lines = candidates.characters.map(({ name, role }) => {
    const things = distribution.assignments.filter(({ character }) => nameKey(character) === nameKey(name));
    const who = `**${shown(name)}** (${shown(role)})`;
    if (things.length === 0) return `• ${who}: nothing this time`;
    return [`• ${who}:`, ...things.map((thing) => `  - ${itemText(distribution, thing)}`)].join('\n');
  });
  return ['🎒 Gear Recommendations', ...lines, ...notes(distribution, candidates)].join('\n');
}

function itemText({ items }: Distribution, { item_id, reason }: Distribution['assignments'][number]): string {
  const { name = '', amount = 1 } = items.find(({ id }) => id === item_id) ?? {};
  const what = amount === 1 ? shown(name) : `${amount} × ${shown(name)}`;
  return reason.trim() === '' ? what : `${what} – ${shown(brief(reason))}`;
}

function notes({ not_loot }: Distribution, { excluded, unknown }: Candidates): string[] {
  const list = (names: readonly string[]) => names.map(shown).join(', ');
  return [
    ...(excluded.length > 0 ? [`Excluded: ${list(excluded)}`] : []),
    ...(unknown.length > 0 ? [`Not in the party, so not excluded: ${list(unknown)}`] : []),
    ...(not_loot.length > 0 ? [`Not counted as loot: ${list(not_loot)}`] : []),
  ];
}

function brief(text: string): string {
  const characters = [...text.trim().replace(/\s+/gu, ' ')];
  return characters.length <= LONGEST_REASON ? characters.join('') : `${characters.slice(0, LONGEST_REASON).join('')}…`;
}
