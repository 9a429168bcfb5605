import type { z } from '@cinnabar/sdk';
import { echo } from '../answers/echo.js';
import { formatDuration } from './duration.js';
import type { OptionSpec } from './spec.js';

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
