import { formatDuration } from './duration.js';
import type { OptionKind, OptionSpec } from './spec.js';

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
