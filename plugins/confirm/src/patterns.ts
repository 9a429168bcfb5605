import { isDeepStrictEqual } from 'node:util';
import type { ToolCall } from '@cinnabar/sdk';
import { literalOf, shorten } from './render.js';

/** What an argument that may change still has to be: a value of the same JSON type. */
export const KINDS = ['text', 'number', 'truth value', 'list', 'object', 'nothing'] as const;
type Kind = (typeof KINDS)[number];

/** Which calls of a tool somebody allows: all of them, or those whose arguments are like those of one call. */
export type Pattern =
  | { readonly kind: 'any' }
  | {
      readonly kind: 'like';
      /** Where the call was asked for: another channel is another call. */
      readonly channelId: string;
      readonly fixed: Arguments;
      readonly free: Readonly<Record<string, Kind>>;
    };
type Arguments = Readonly<Record<string, unknown>>;

/** A text as long as this is prose: the next one is another one. */
const LONG_TEXT = 80;
/** Discord offers at most so many options in a menu; whatever is beyond stays fixed. */
const MOST_CHOICES = 25;
/** A name that an option can carry and show as it is; Discord takes at most 100 characters. */
const PLAIN_NAME = /^[\w.:-]{1,100}$/;

/** The arguments of which somebody can say that they may change, in the order of the call. */
export function choicesOf(input: Arguments): readonly string[] {
  return Object.keys(plain(input))
    .filter((name) => PLAIN_NAME.test(name))
    .slice(0, MOST_CHOICES);
}

/** Which of them stay the same unless somebody says otherwise: all but long texts. */
export function usuallyFixed(input: Arguments): ReadonlySet<string> {
  return new Set(choicesOf(input).filter((name) => !isProse(input[name])));
}

/** Calls like this one. @param fixed those of its `choicesOf` that stay the same */
export function patternLike({ input, actor }: Pick<ToolCall, 'input' | 'actor'>, fixed: ReadonlySet<string>): Pattern {
  const free = new Set(choicesOf(input).filter((name) => !fixed.has(name)));
  const entries = Object.entries(plain(input));
  return {
    kind: 'like',
    channelId: actor.channelId,
    fixed: Object.fromEntries(entries.filter(([name]) => !free.has(name))),
    free: Object.fromEntries(entries.filter(([name]) => free.has(name)).map(([name, value]) => [name, kindOf(value)])),
  };
}

/** Whether a call has exactly these arguments, none more and none less, each the same or of the kind it may be. */
export function fits(pattern: Pattern, { input, actor }: Pick<ToolCall, 'input' | 'actor'>): boolean {
  if (pattern.kind === 'any') return true;
  const { channelId, fixed, free } = pattern;
  const given = Object.entries(plain(input));
  if (actor.channelId !== channelId) return false;
  if (given.length !== Object.keys(fixed).length + Object.keys(free).length) return false;
  return given.every(([name, value]) =>
    Object.hasOwn(fixed, name)
      ? isDeepStrictEqual(value, fixed[name])
      : Object.hasOwn(free, name) && kindOf(value) === free[name],
  );
}

/** As it is kept: plain JSON, so that what was kept and what is asked are compared alike. */
function plain(input: Arguments): Arguments {
  const copy: unknown = JSON.parse(JSON.stringify(input));
  return typeof copy === 'object' && copy !== null ? { ...copy } : {};
}

function kindOf(value: unknown): Kind {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'truth value' : 'object';
}

function isProse(value: unknown): boolean {
  return typeof value === 'string' && (value.length >= LONG_TEXT || value.includes('\n'));
}

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
