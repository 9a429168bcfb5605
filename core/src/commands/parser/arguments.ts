import { echo } from '../answers/echo.js';
import type { Problem } from '../options/bind.js';
import type { OptionSpec } from '../options/spec.js';
import { readNamed } from './named.js';
import { skipSpace } from './space.js';
import { type ArgumentToken, readToken } from './token.js';

export type Given = { readonly given: ReadonlyMap<string, string> } | { readonly problem: Problem };

/**
 * Reads the arguments of a prefix command: options by position, optional ones also by name, and everything that is left,
 * exactly as typed, for an option of kind `rest`. Files are given in the order in which they are attached.
 * @param from the index in `source` after the command's name
 */
export function readArguments(
  specs: readonly OptionSpec[],
  source: string,
  from: number,
  attachmentIds: readonly string[] = [],
): Given {
  const given = new Map(filesByOption(specs, attachmentIds));
  const positional = specs.filter((spec) => spec.kind !== 'attachment');
  let at = from;
  for (let token = readToken(source, at); token !== undefined; token = readToken(source, at)) {
    const next = positional.find((spec) => !given.has(spec.name));
    if (next?.kind === 'rest') {
      given.set(next.name, source.slice(skipSpace(source, at)));
      break;
    }
    const named = readNamed(source, token, positional);
    const argument = named ?? positionalArgument(next, token);
    if ('problem' in argument) return argument;
    const { name } = argument.spec;
    if (argument.value === undefined) return wrong(name, `\`${name}\` has no value.`);
    if (given.has(name)) return wrong(name, `\`${name}\` is given twice.`);
    given.set(name, argument.value);
    at = argument.end;
  }
  return { given };
}

function positionalArgument(spec: OptionSpec | undefined, token: ArgumentToken) {
  return spec === undefined
    ? wrong(undefined, `${echo(token.text)} is more than this command takes. Quote what contains spaces.`)
    : { spec, value: token.text, end: token.end };
}

function filesByOption(specs: readonly OptionSpec[], ids: readonly string[]): readonly (readonly [string, string])[] {
  const files = specs.filter((spec) => spec.kind === 'attachment');
  return files.flatMap((spec, index) => {
    const id = ids[index];
    return id === undefined ? [] : [[spec.name, id] as const];
  });
}

function wrong(option: string | undefined, sentence: string) {
  return { problem: { option, sentence } };
}
