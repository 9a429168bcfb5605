import { formatDuration } from './duration.js';
import type { OptionSpec } from './spec.js';

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
