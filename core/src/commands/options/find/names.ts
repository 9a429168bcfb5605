import { echo } from '../../answers/echo.js';
import type { Found } from '../place.js';

const ID = /^\d{15,21}$/;

/** The id in a mention of the given form, or an id typed bare. */
export function idIn(text: string, mention: RegExp): string | undefined {
  return mention.exec(text)?.[1] ?? (ID.test(text) ? text : undefined);
}

/** Names compare without case, with or without their sigil. */
export function plainName(text: string, sigil: string): string {
  return (text.startsWith(sigil) ? text.slice(sigil.length) : text).toLowerCase();
}

/** Exactly one of several, or the sentence that says how many there are. */
export function only<T>(matches: readonly T[], what: string, typed: string, nameOf: (match: T) => string): Found<T> {
  const [first, second] = matches;
  if (first === undefined) return { problem: `There is no ${what} called ${echo(typed)} here.` };
  if (second === undefined) return { value: first };
  const names = matches.slice(0, 5).map((match) => echo(nameOf(match)));
  return { problem: `More than one ${what} is called ${echo(typed)}: ${names.join(', ')}. Use a mention or an id.` };
}
