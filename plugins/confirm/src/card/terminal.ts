import type { Sheet } from './sheet.js';
import { inert, literalOf, shorten } from './value.js';

export function terminalCard({ card, longest, notes }: Sheet): string {
  const { program, operation, record, keys = {} } = card.terminal;
  const fields = card.fields.map(
    ({ name, value }) =>
      `  ${identifier((Object.hasOwn(keys, name) ? keys[name] : undefined) ?? name)}: ${inert(shorten(literalOf(value), longest))}`,
  );
  const last = fields.length - 1;
  return [
    `${identifier(program)}.exe`,
    `Pending operation: ${identifier(operation)}`,
    ...(fields.length > 0
      ? ['', `${identifier(record)} {`, ...fields.map((field, index) => (index < last ? `${field},` : field)), '}']
      : []),
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
    'Confirm? 👍 Yes / 👎 No',
  ]
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** Underscores inside a word are no markup: PARTY_MANAGER stays as it is. */
function identifier(name: string): string {
  return /^[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*$/.test(name) ? name : inert(name);
}
