import type { Sheet } from './sheet.js';
import { inert, proseOf, shorten } from './value.js';

/** "Simple & Clean". */
export function plainCard({ card, longest, notes }: Sheet): string {
  const fields = card.fields
    .filter(({ said }) => !said)
    .map(({ label, value }) => `• ${inert(label)}: ${inert(shorten(proseOf(value), longest))}`);
  return [
    '📋 Confirmation Required',
    '',
    `${inert(shorten(card.sentence, longest))}${fields.length > 0 ? ':' : '.'}`,
    ...fields,
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
    '👍 Confirm  👎 Cancel',
  ].join('\n');
}
