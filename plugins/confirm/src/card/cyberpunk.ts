import type { Sheet } from './sheet.js';
import { inert, proseOf, shorten } from './value.js';

export function cyberpunkCard({ card, longest, notes }: Sheet): string {
  const fields = card.fields.map(({ label, value }, index) => {
    const branch = index === card.fields.length - 1 ? '└─' : '├─';
    return `${branch} ${inert(label)}: ${inert(shorten(proseOf(value), longest))}`;
  });
  return [
    '🔐 Security Clearance Required',
    '',
    `ACTION: ${inert(card.action)}`,
    ...fields,
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
    'React 👍 to authorize | 👎 to abort',
  ].join('\n');
}
