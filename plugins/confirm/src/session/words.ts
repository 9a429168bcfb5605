import { literalOf, shorten } from '../card/value.js';
import type { Pattern } from './pattern.js';

/** A value longer than this is shown by its beginning; the card of the call has shown all of it. */
const LONGEST_VALUE = 120;

/** What a pattern allows, unescaped: `errand where what is "milk" and note is any text`. */
export function patternWords(tool: string, pattern: Pattern): string {
  if (pattern.kind === 'any') return `${tool} with any arguments`;
  const parts = [
    ...Object.entries(pattern.fixed).map(([name, value]) => `${name} is ${shorten(literalOf(value), LONGEST_VALUE)}`),
    ...Object.entries(pattern.free).map(([name, kind]) => `${name} is any ${kind}`),
  ];
  return parts.length === 0 ? `${tool} without arguments` : `${tool} where ${parts.join(' and ')}`;
}
