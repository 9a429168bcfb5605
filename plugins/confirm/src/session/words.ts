import { literalOf, shorten } from '../card/value.js';
import type { Pattern } from './pattern.js';

/** A value longer than this is shown by its beginning; the card of the call has shown all of it. */
const LONGEST_VALUE = 120;

/** What a pattern allows, unescaped: `errand where note is any text and what is "milk"`. What may change comes first. */
export function patternWords(tool: string, pattern: Pattern): string {
  if (pattern.kind === 'any') return `${tool} with any arguments`;
  const fixed = Object.entries(pattern.fixed).map(
    ([name, value]) => `${name} is ${shorten(literalOf(value), LONGEST_VALUE)}`,
  );
  return sentence(tool, [...freeWords(pattern), ...fixed]);
}

/** The same, in fewer words if need be. What may change is always there in full: `undefined` when there is no room for that. */
export function briefPatternWords(
  tool: string,
  pattern: Pattern,
  fits: (words: string) => boolean,
): string | undefined {
  const whole = patternWords(tool, pattern);
  if (fits(whole) || pattern.kind === 'any') return whole;
  const free = freeWords(pattern);
  const rest = `every ${free.length === 0 ? '' : 'other '}argument is exactly as on the card`;
  const brief = sentence(tool, [...free, rest]);
  return fits(brief) ? brief : undefined;
}

function freeWords({ free }: Extract<Pattern, { kind: 'like' }>): readonly string[] {
  return Object.entries(free).map(([name, kind]) => `${name} is any ${kind}`);
}

function sentence(tool: string, parts: readonly string[]): string {
  return parts.length === 0 ? `${tool} without arguments` : `${tool} where ${parts.join(' and ')}`;
}
