import { isSecretName, REDACTED } from '../observability/secret-patterns.js';
import type { Arguments } from './arguments.js';

/** Arguments as they may be shown and kept: secrets taken out by the name of their field, by their shape, and where the host knows them. */
export function shownArguments(input: Arguments, redact: (text: string) => string): Arguments {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, shown(name, value, redact)]));
}

/** The same of what a caller has given, which may be anything. */
export function shownInput(input: unknown, redact: (text: string) => string): unknown {
  return shown('', input, redact);
}

function shown(name: string, value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return value !== '' && isSecretName(name) ? REDACTED : redact(value);
  if (Array.isArray(value)) return value.map((item) => shown(name, item, redact));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(key, inner, redact)]));
  }
  return value;
}
