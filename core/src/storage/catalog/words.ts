import { formatDuration } from './durations.js';
import type { FieldType } from './field-type.js';

const FORMATS: Readonly<Record<string, string>> = {
  uri: 'web address',
  email: 'email address',
  'date-time': 'date and time',
  date: 'date',
  time: 'time',
  uuid: 'UUID',
};

/** A type for people: `whole number from 1 to 20`, `one of plain, cyberpunk, terminal`, `list of channels`. */
export function inWords(type: FieldType): string {
  switch (type.kind) {
    case 'boolean':
      return 'yes or no';
    case 'nothing':
      return 'none';
    case 'object':
      return 'JSON object';
    case 'anything':
      return 'anything, as JSON or text';
    case 'number':
      return `${type.whole ? 'whole number' : 'number'}${range(type, String)}${open(type.above, 'above')}${open(type.below, 'below')}`;
    case 'duration':
      return `duration${range(type.min === 0 ? { ...type, min: undefined } : type, formatDuration)}`;
    case 'text':
      return `${type.format === undefined ? 'text' : (FORMATS[type.format] ?? 'text')}${lengths(type)}`;
    case 'mention':
      return type.of;
    case 'choice':
      return type.values.length === 1 ? String(type.values[0]) : `one of ${type.values.map(String).join(', ')}`;
    case 'list':
      return `list of ${plural(type.of)}${range(type, (count) => `${count} items`, ', ')}`;
    case 'either':
      return type.of.map(inWords).join(' or ');
  }
}

function range(
  { min, max }: { readonly min?: number | undefined; readonly max?: number },
  show: (value: number) => string,
  before = ' ',
): string {
  if (min !== undefined && max !== undefined) return `${before}from ${show(min)} to ${show(max)}`;
  if (min !== undefined) return `${before}of at least ${show(min)}`;
  return max === undefined ? '' : `${before}of at most ${show(max)}`;
}

function open(limit: number | undefined, word: string): string {
  return limit === undefined ? '' : ` ${word} ${limit}`;
}

function lengths({ min, max }: { readonly min?: number; readonly max?: number }): string {
  if (min !== undefined && max !== undefined) return ` of ${min} to ${max} characters`;
  if (min !== undefined) return min <= 1 ? '' : ` of at least ${min} characters`;
  return max === undefined ? '' : ` of at most ${max} characters`;
}

function plural(type: FieldType): string {
  if (type.kind === 'mention') return `${type.of}s`;
  if (type.kind === 'number') return inWords(type).replace('number', 'numbers');
  if (type.kind === 'duration') return inWords(type).replace('duration', 'durations');
  return inWords(type);
}
