import { endOfLine } from './lines.js';

/**
 * The arguments of a written call: a JSON object over as many lines as it takes, else the rest of the line.
 * @param isAnother whether a line begins something else, so that an object that is never closed ends before it
 */
export function readArguments(
  text: string,
  start: number,
  isAnother: (line: string) => boolean,
): { readonly input: string; readonly end: number } {
  const brace = start + text.slice(start).search(/\S|$/);
  const end = text[brace] === '{' ? endOfObject(text, brace, isAnother) : endOfLine(text, start);
  return { input: text.slice(Math.min(brace, end), end).trim(), end };
}

/** Behind the brace that closes the object. */
function endOfObject(text: string, start: number, isAnother: (line: string) => boolean): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '\n' && isAnother(text.slice(at + 1, endOfLine(text, at + 1)))) return at;
    if (quoted) {
      if (character === '\\') at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at + 1;
  }
  return text.length;
}
