import { distance } from 'fastest-levenshtein';

/** One word of an utterance, with its position. */
export interface Word {
  /** The form for comparisons: lower case, without accents and apostrophes; equivalent words have the same form. */
  readonly form: string;
  readonly start: number;
  readonly end: number;
  /** A comma, semicolon or colon stands between it and the previous word. */
  readonly afterBreak: boolean;
  /** It is capitalised within a sentence, like a name. */
  readonly name: boolean;
  /** An operator or a bracket is at one of its ends, outside of `form`. */
  readonly operator: boolean;
}

const CHUNK = /\S+/gu;
const MENTION = /^<[@#:][^\s<>]+>$/;
const LEADING = /^[^\p{L}\p{N}\p{S}]+/u;
const TRAILING = /[^\p{L}\p{N}\p{S}\p{M}%]+$/u;
/** Signs with a meaning of their own, which are kept, unlike punctuation. */
const OPERATOR = /[-+*/%^=<>|~&\\#@$()[\]{}]/;
const DASH = /^[-–—]+$/u;
const CAPITALISED = /^\p{Lu}\p{Ll}/u;
const SENTENCE_END = /[.!?…]/u;
/** A comma or semicolon between letters without a space: "V,he's". */
const INNER_BREAK = /(?<=\p{L})[,;](?=\p{L})/gu;
const CLITIC = /^(.+?)['’](s|re|m|d|ll|ve)$/iu;

/** Words that stand for the same person or thing in a request. */
const SAME = new Map(
  Object.entries({
    he: 'she they it him her them',
    is: 'are am be s re m',
    a: 'an',
    the: 'my our your this that these those',
  }).flatMap(([form, words]) => words.split(' ').map((word) => [word, form] as const)),
);
/** Contractions without the apostrophe. */
const SQUASHED = new Map([
  ['hes', ['he', 'is']],
  ['shes', ['he', 'is']],
  ['theyre', ['he', 'is']],
  ['im', ['i', 'is']],
  ['whos', ['who', 'is']],
  ['whats', ['what', 'is']],
]);

/** Splits an utterance into words with their positions, in linear time. */
export function splitWords(text: string): readonly Word[] {
  const words: Word[] = [];
  let broken = false;
  let begins = true;
  let endOfChunk = 0;
  for (const chunk of text.matchAll(CHUNK)) {
    begins ||= text.slice(endOfChunk, chunk.index).includes('\n');
    endOfChunk = chunk.index + chunk[0].length;
    for (const piece of splitChunk(chunk[0], chunk.index)) {
      broken ||= piece.breakBefore;
      const said = isOperator(piece, text) ? { ...piece, text: piece.raw } : piece;
      words.push(...toWords(said, broken && words.length > 0, begins));
      broken = piece.breakAfter || (broken && piece.text === '');
      begins = piece.endsSentence || (begins && said.text === '');
    }
  }
  return words;
}

interface Piece {
  readonly text: string;
  readonly start: number;
  readonly raw: string;
  readonly operator: boolean;
  readonly breakBefore: boolean;
  readonly breakAfter: boolean;
  readonly endsSentence: boolean;
}

/** A separate sign is a word; a dash only where it could be a minus. */
function isOperator({ text, raw, start }: Piece, whole: string): boolean {
  if (text !== '' || !OPERATOR.test(raw)) return false;
  if (!DASH.test(raw)) return true;
  return (
    /[\d)]\s*$/.test(whole.slice(Math.max(0, start - 8), start)) ||
    /^\s*[\d(]/.test(whole.slice(start + raw.length, start + raw.length + 8))
  );
}

function splitChunk(chunk: string, at: number): readonly Piece[] {
  const cuts = [0, ...[...chunk.matchAll(INNER_BREAK)].map((match) => match.index + 1), chunk.length];
  return cuts.slice(1).map((to, index) => trimPiece(chunk.slice(cuts[index], to), at + (cuts[index] ?? 0)));
}

/** Removes punctuation and quotes from both ends; signs that belong to a value stay. */
function trimPiece(piece: string, start: number): Piece {
  if (MENTION.test(piece))
    return {
      text: piece,
      start,
      raw: piece,
      operator: false,
      breakBefore: false,
      breakAfter: false,
      endsSentence: false,
    };
  const leading = LEADING.exec(piece)?.[0] ?? '';
  const sign = /[-#@]$/.test(leading) && /^[-#@][\p{L}\p{N}]/u.test(piece.slice(leading.length - 1)) ? 1 : 0;
  const from = leading.length - sign;
  const rest = piece.slice(from);
  const trailing = TRAILING.exec(rest)?.[0] ?? '';
  const text = rest.slice(0, rest.length - trailing.length);
  return {
    text,
    start: text === '' ? start : start + from,
    raw: piece,
    operator: OPERATOR.test(leading.slice(0, from)) || OPERATOR.test(trailing),
    breakBefore: /[,;:]/.test(leading),
    breakAfter: /[,;:]/.test(trailing),
    endsSentence: SENTENCE_END.test(text === '' ? piece : trailing),
  };
}

function toWords({ text, start, operator }: Piece, afterBreak: boolean, begins: boolean): readonly Word[] {
  if (text === '') return [];
  const end = start + text.length;
  const name = !begins && CAPITALISED.test(text);
  const whole = { start, end, afterBreak, name, operator };
  const rest = { afterBreak: false, name: false, operator };
  const [, stem, clitic] = CLITIC.exec(text) ?? [];
  if (stem !== undefined && clitic !== undefined) {
    const middle = start + stem.length;
    return [
      { ...whole, form: formOf(stem), end: middle },
      { ...rest, form: formOf(clitic), start: middle, end },
    ];
  }
  const squashed = SQUASHED.get(plain(text));
  if (squashed === undefined) return [{ ...whole, form: formOf(text) }];
  const middle = end - 1;
  return squashed.map((form, index) =>
    index === 0 ? { ...whole, form, end: middle } : { ...rest, form, start: middle, end },
  );
}

function formOf(text: string): string {
  const form = plain(text);
  return SAME.get(form) ?? form;
}

function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\p{M}'’`´]/gu, '')
    .toLowerCase();
}

/** Words with little meaning: an utterance may omit them, or add them to the example. */
const SMALL = new Set(['a', 'the', 'is', 'he']);
/** Polite words around a request. */
const FILLERS = new Set(
  (
    'please pls plz kindly thanks thank thx you could can would will want wanna need like id i d ll ve let lets us me tell ' +
    'hey hi hello yo ok okay well so now just also then and to go ahead maybe quickly bot'
  ).split(' '),
);
const POLITE_ENDS = new Set('please pls plz kindly thanks thank you thx hey hi hello yo ok okay'.split(' '));
const LONGEST_COMPARED = 40;

const COST = { smallWord: 0.15, filler: 0.05, typo: 0.4 } as const;

export function isSmall(form: string): boolean {
  return SMALL.has(form);
}

/** Whether a word of an example is neither small nor a filler. */
export function isSpecific(form: string): boolean {
  return !SMALL.has(form) && !FILLERS.has(form);
}

export function isPoliteEnd(form: string): boolean {
  return POLITE_ENDS.has(form);
}

/** The cost of a word of the example that the message does not contain. */
export function costOfMissing({ form, separates }: { readonly form: string; readonly separates: boolean }): number {
  return SMALL.has(form) && !separates ? COST.smallWord : Number.POSITIVE_INFINITY;
}

/** The cost of a word of the message that the example does not contain. "Will" in the middle of a sentence is a name. */
export function costOfExtra({ form, name, operator }: Word): number {
  if (operator || (name && !POLITE_ENDS.has(form))) return Number.POSITIVE_INFINITY;
  if (FILLERS.has(form)) return COST.filler;
  return SMALL.has(form) ? COST.smallWord : Number.POSITIVE_INFINITY;
}

/** The cost of one word in place of another: none, that of a typo, or infinite. Another number or name is never a typo. */
export function costOfSaying({ form: said, name, operator }: Word, expected: string): number {
  if (operator) return Number.POSITIVE_INFINITY;
  if (said === expected) return 0;
  return !name && !/\d/.test(said + expected) && isTypo(said, expected) ? COST.typo : Number.POSITIVE_INFINITY;
}

/** Whether two words differ by a typo. The shorter a word is, the more likely is a similar word with another meaning. */
function isTypo(said: string, expected: string): boolean {
  const difference = Math.abs(said.length - expected.length);
  const allowed = expected.length >= 8 ? 2 : expected.length >= 3 ? 1 : 0;
  if (said.length > LONGEST_COMPARED || difference > allowed) return false;
  // In a word of three letters, one may be missing or doubled, but not replaced.
  if (expected.length === 3 && difference === 0) return false;
  return distance(said, expected) <= allowed;
}

/** The maximum cost for an example with that many literal words. */
export function limitFor(literals: number): number {
  return Math.min(1.2, 0.1 + 0.3 * literals);
}

const WORDS = new Map(
  'zero one two three four five six seven eight nine ten eleven twelve'.split(' ').map((word, value) => [word, value]),
);
const DIGITS = /^[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/;

/** The number in a word: digits, or a word up to twelve. */
export function readNumber(word: string): number | undefined {
  const text = word.trim().toLowerCase();
  if (DIGITS.test(text)) return Number.parseFloat(text.replaceAll(',', ''));
  return WORDS.get(text);
}

export function isNumber(word: string): boolean {
  return readNumber(word) !== undefined;
}
