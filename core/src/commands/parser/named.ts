import type { OptionSpec } from '../options/spec.js';
import { skipSpace } from './space.js';
import { type ArgumentToken, readToken } from './token.js';

/** An optional option given by its name: `times:3`, `--times 3`, or `--quiet` for a yes. */
export interface NamedArgument {
  readonly spec: OptionSpec;
  /** `undefined` when the value is missing. */
  readonly value: string | undefined;
  readonly end: number;
}

/** What `token` says when it names one of the optional options; `undefined` when it is an ordinary argument. */
export function readNamed(
  source: string,
  token: ArgumentToken,
  specs: readonly OptionSpec[],
): NamedArgument | undefined {
  if (token.quoted) return undefined;
  const flag = token.text.startsWith('--');
  const colon = token.text.indexOf(':');
  if (!flag && (colon < 1 || colon === token.text.length - 1)) return undefined;
  const name = (flag ? token.text.slice(2) : token.text.slice(0, colon)).toLowerCase();
  const spec = specs.find((one) => !one.required && one.name === name);
  if (spec === undefined) return undefined;
  if (flag && spec.kind === 'boolean') return { spec, value: 'yes', end: token.end };
  return readValue(source, spec, flag ? token.end : token.start + colon + 1);
}

function readValue(source: string, spec: OptionSpec, from: number): NamedArgument {
  if (spec.kind === 'rest') {
    const rest = source.slice(skipSpace(source, from));
    return { spec, value: rest === '' ? undefined : rest, end: source.length };
  }
  const value = readToken(source, from);
  return { spec, value: value?.text, end: value?.end ?? source.length };
}
