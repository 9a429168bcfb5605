import type { CallCard } from '@cinnabar/sdk';
import type { Style } from '../settings.js';
import { cyberpunkCard } from './cyberpunk.js';
import { longestEnded } from './ending.js';
import { plainCard } from './plain.js';
import type { Sheet } from './sheet.js';
import { terminalCard } from './terminal.js';

const STYLES: Readonly<Record<Style, (sheet: Sheet) => string>> = {
  plain: plainCard,
  cyberpunk: cyberpunkCard,
  terminal: terminalCard,
};

/** Discord's limit for a message, in UTF-16 units. */
const MESSAGE_LIMIT = 2000;
/** How far texts are cut, step by step, until the card fits. */
const CUTS = [400, 150, 50, 15];

const ARGUMENTS_FILE = 'arguments.json';

export interface Drawing {
  readonly content: string;
  /** Set when the card cannot show everything: it says so, and this file goes along. */
  readonly file: { readonly name: string; readonly json: string } | undefined;
}

/**
 * Draws the card of a call. It always fits into a message, and so does it with how it ended; what does not fit goes into a file in full.
 * @param notes lines that explain the card itself, such as a missing permission
 */
export function drawCard(
  style: Style,
  card: CallCard,
  input: Readonly<Record<string, unknown>>,
  notes: readonly string[] = [],
): Drawing {
  // Nothing longer than a message fits into one: cutting there spares drawing it all, and cannot make it fit.
  const whole = STYLES[style]({ card, longest: MESSAGE_LIMIT, notes });
  if (fits(whole)) return { content: whole, file: undefined };
  const file = { name: ARGUMENTS_FILE, json: jsonOf(input) };
  const withNote = [`📎 Too long to show here: every argument is in ${ARGUMENTS_FILE}, in full.`, ...notes];
  for (const longest of CUTS) {
    const content = STYLES[style]({ card, longest, notes: withNote });
    if (fits(content)) return { content, file };
  }
  const bare = { ...card, fields: [] };
  return { content: STYLES[style]({ card: bare, longest: 15, notes: withNote }), file };
}

/** Whether a card fits into a message, however it ends. */
export function fits(content: string): boolean {
  return longestEnded(content) <= MESSAGE_LIMIT;
}

/** Readable JSON in which nothing is hidden: invisible characters are written as `\uXXXX`, which means the same. */
function jsonOf(input: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(input, null, 2).replace(
    /(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu,
    (character) => character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
