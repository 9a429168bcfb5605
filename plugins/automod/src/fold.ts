import { skeletonOf } from '@cinnabar/sdk';

/*
 * Text as filters compare it: small letters, one space between words, without what cannot be seen, accents and the disguise of letters from other
 * alphabets. Words and messages are folded alike, so that a word in Cyrillic is found in Cyrillic, too.
 */

const ASCII = /^[\0-\x7F]*$/;
const SPACES = /\s+/g;
const OTHER_SPACES = /\s\s|[^\S ]/;
const IGNORED = /^[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}\u2800]$/u;
const MARKS = /\p{M}/gu;

/** What each character that is not ASCII becomes, by its code: a message asks for the same few again and again. */
const folded = new Map<number, string>();
const MOST_KEPT = 20_000;

export function fold(text: string): string {
  const small = (ASCII.test(text) ? text : foldCharacters(text)).toLowerCase();
  // Most texts have single spaces already.
  return (OTHER_SPACES.test(small) ? small.replace(SPACES, ' ') : small).trim();
}

function foldCharacters(text: string): string {
  let result = '';
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 128) {
      result += text[at];
      continue;
    }
    const whole = code >= 0xd800 && code <= 0xdbff ? (text.codePointAt(at) ?? code) : code;
    if (whole > 0xffff) at += 1;
    result += folded.get(whole) ?? foldOne(whole);
  }
  return result;
}

function foldOne(code: number): string {
  if (folded.size >= MOST_KEPT) folded.clear();
  const character = String.fromCodePoint(code);
  const result = IGNORED.test(character) ? '' : looksLike(character);
  folded.set(code, result);
  return result;
}

function looksLike(character: string): string {
  if (/\s/u.test(character)) return ' ';
  // Small letters first: a capital I of another alphabet looks like an l.
  const small = character.normalize('NFKD').toLowerCase();
  return skeletonOf(small).normalize('NFKD').replace(MARKS, '').toLowerCase();
}

/** Only what cannot be seen taken out, and wide letters made narrow: for addresses, whose spelling counts. */
export function visibleOnly(text: string): string {
  if (ASCII.test(text)) return text;
  return text.normalize('NFKC').replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '');
}
