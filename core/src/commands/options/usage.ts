import { formatDuration, type z } from '@cinnabar/sdk';
import { echo } from '../answers/answers.js';

import type { OptionKind, OptionSpec } from './describe.js';

/** Choices are spelt out in the usage as long as they fit a line. */
const SPELT_OUT = 40;

/** `<required>`, `[optional=default]`, `<a|b|c>`. */
export function usageOf(spec: OptionSpec): string {
  const shown = fallback(spec);
  const body = `${label(spec)}${shown === undefined ? '' : `=${shown}`}`;
  return spec.required ? `<${body}>` : `[${body}]`;
}

/** The usage of all options, in the order in which they are typed. */
export function usageLine(specs: readonly OptionSpec[]): string {
  return specs.map(usageOf).join(' ');
}

/** The default in the form in which a member would type it; `undefined` when it has none that can be typed. */
export function fallback(spec: OptionSpec): string | undefined {
  const { default: value, kind } = spec;
  if (kind === 'duration' && typeof value === 'number') return formatDuration(value);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  return undefined;
}

function label({ name, choices }: OptionSpec): string {
  const all = choices.map((choice) => choice.label).join('|');
  return choices.length > 0 && all.length <= SPELT_OUT ? all : name;
}

const PLAIN: Readonly<Record<OptionKind, string>> = {
  text: 'text',
  rest: 'text to the end of the message',
  integer: 'whole number',
  number: 'number',
  boolean: 'yes or no',
  choice: 'choice',
  duration: 'duration such as 1h30m',
  user: 'user',
  member: 'member',
  role: 'role',
  channel: 'channel',
  attachment: 'attachment',
};

/** An option's type in words: "whole number from 2 to 100", "one of plain, cyberpunk". */
export function typeText(spec: OptionSpec): string {
  if (spec.kind === 'choice') return `one of ${spec.choices.map((choice) => choice.label).join(', ')}`;
  const plain = PLAIN[spec.kind];
  if (spec.kind === 'integer' || spec.kind === 'number') return `${plain}${range(spec, String)}`;
  if (spec.kind === 'duration') return `${plain}${range({ ...spec, min: spec.min || undefined }, formatDuration)}`;
  return plain;
}

function range({ min, max }: Pick<OptionSpec, 'min' | 'max'>, show: (bound: number) => string): string {
  if (min !== undefined && max !== undefined) return ` from ${show(min)} to ${show(max)}`;
  if (min !== undefined) return ` of at least ${show(min)}`;
  return max === undefined ? '' : ` of at most ${show(max)}`;
}

/**
 * What is to be said of an issue unless the plugin's author gave words of their own: zod prefers those to an error map.
 * @example schema.safeParse(1, { error: wordsFor(spec, '1') }) // "`sides` must be at least 2; you gave `1`."
 */
export function wordsFor(spec: OptionSpec, typed: string): (issue: z.core.$ZodRawIssue) => string {
  return (issue) => `\`${spec.name}\` ${clause(spec, issue)}; you gave ${echo(typed)}.`;
}

/** A sentence that names the option, also when the words are the author's. */
export function asSentence(spec: OptionSpec, words: string): string {
  const stop = /[.!?]$/.test(words) ? '' : '.';
  return words.startsWith(`\`${spec.name}\``) ? `${words}${stop}` : `\`${spec.name}\`: ${words}${stop}`;
}

function clause(spec: OptionSpec, issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'too_small':
      return `must ${bound(spec, issue.origin, issue.minimum, issue.exact === true ? 'exactly' : least(issue))}`;
    case 'too_big':
      return `must ${bound(spec, issue.origin, issue.maximum, issue.exact === true ? 'exactly' : most(issue))}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return `must be ${formatName(issue)}`;
    case 'invalid_type':
      return `must be ${issue.expected === 'int' ? 'a whole number' : withArticle(issue.expected)}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => echo(String(value))).join(', ')}`;
    default:
      return 'is not right';
  }
}

function least({ inclusive }: { readonly inclusive?: boolean }): string {
  return inclusive === false ? 'more than' : 'at least';
}

function most({ inclusive }: { readonly inclusive?: boolean }): string {
  return inclusive === false ? 'less than' : 'at most';
}

function bound(spec: OptionSpec, origin: string, value: number | bigint, how: string): string {
  if (origin === 'string') return `have ${how} ${value} ${value === 1 ? 'character' : 'characters'}`;
  if (spec.kind === 'duration') return `be ${how} ${formatDuration(Number(value))}`;
  return `be ${how} ${value}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  email: 'an email address',
  url: 'a link',
  datetime: 'a date and time such as 2026-01-31T18:00:00Z',
  date: 'a date such as 2026-01-31',
  time: 'a time such as 18:00:00',
  uuid: 'a UUID',
  emoji: 'an emoji',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
};

function formatName(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidStringFormat>): string {
  if (issue.format === 'starts_with' && 'prefix' in issue) return `text that starts with ${echo(String(issue.prefix))}`;
  if (issue.format === 'ends_with' && 'suffix' in issue) return `text that ends with ${echo(String(issue.suffix))}`;
  if (issue.format === 'includes' && 'includes' in issue) return `text with ${echo(String(issue.includes))} in it`;
  return FORMATS[issue.format] ?? 'in the form that is asked for';
}

function withArticle(type: string): string {
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}
