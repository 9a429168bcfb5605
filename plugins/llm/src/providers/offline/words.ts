/** One word of an utterance, and where it stood. */
export interface Word {
  /** As it is compared: lower case, without accents and apostrophes; words that mean the same here are the same. */
  readonly form: string;
  readonly start: number;
  readonly end: number;
  /** A comma, semicolon or colon stood between it and the word before. */
  readonly afterBreak: boolean;
}

const CHUNK = /\S+/gu;
const MENTION = /^<[@#:][^\s<>]+>$/;
const LEADING = /^[^\p{L}\p{N}\p{S}]+/u;
const TRAILING = /[^\p{L}\p{N}\p{S}\p{M}%]+$/u;
/** Between letters without a space: "V,he's". */
const INNER_BREAK = /(?<=\p{L})[,;](?=\p{L})/gu;
const CLITIC = /^(.+?)['’](s|re|m|d|ll|ve)$/iu;

/** People and things that stand for one another in a request. */
const SAME = new Map(
  Object.entries({
    he: 'she they it him her them',
    is: 'are am be s re m',
    a: 'an',
    the: 'my our your this that these those',
  }).flatMap(([form, words]) => words.split(' ').map((word) => [word, form] as const)),
);
/** Contractions as people type them without the apostrophe. */
const SQUASHED = new Map([
  ['hes', ['he', 'is']],
  ['shes', ['he', 'is']],
  ['theyre', ['he', 'is']],
  ['im', ['i', 'is']],
  ['whos', ['who', 'is']],
  ['whats', ['what', 'is']],
]);

/** Splits an utterance into words with their places. Linear in its length. */
export function splitWords(text: string): readonly Word[] {
  const words: Word[] = [];
  let broken = false;
  for (const chunk of text.matchAll(CHUNK)) {
    for (const piece of splitChunk(chunk[0], chunk.index)) {
      broken ||= piece.breakBefore;
      words.push(...toWords(piece.text, piece.start, broken && words.length > 0));
      broken = piece.breakAfter || (broken && piece.text === '');
    }
  }
  return words;
}

interface Piece {
  readonly text: string;
  readonly start: number;
  readonly breakBefore: boolean;
  readonly breakAfter: boolean;
}

function splitChunk(chunk: string, at: number): readonly Piece[] {
  const cuts = [0, ...[...chunk.matchAll(INNER_BREAK)].map((match) => match.index + 1), chunk.length];
  return cuts.slice(1).map((to, index) => trimPiece(chunk.slice(cuts[index], to), at + (cuts[index] ?? 0)));
}

/** Takes punctuation and quotes off both ends; signs that belong to a value stay. */
function trimPiece(piece: string, start: number): Piece {
  if (MENTION.test(piece)) return { text: piece, start, breakBefore: false, breakAfter: false };
  const leading = LEADING.exec(piece)?.[0] ?? '';
  const sign = /[-#@]$/.test(leading) && /^[-#@][\p{L}\p{N}]/u.test(piece.slice(leading.length - 1)) ? 1 : 0;
  const from = leading.length - sign;
  const rest = piece.slice(from);
  const trailing = TRAILING.exec(rest)?.[0] ?? '';
  const text = rest.slice(0, rest.length - trailing.length);
  return { text, start: start + from, breakBefore: /[,;:]/.test(leading), breakAfter: /[,;:]/.test(trailing) };
}

function toWords(text: string, start: number, afterBreak: boolean): readonly Word[] {
  if (text === '') return [];
  const end = start + text.length;
  const [, stem, clitic] = CLITIC.exec(text) ?? [];
  if (stem !== undefined && clitic !== undefined) {
    const middle = start + stem.length;
    return [
      { form: formOf(stem), start, end: middle, afterBreak },
      { form: formOf(clitic), start: middle, end, afterBreak: false },
    ];
  }
  const squashed = SQUASHED.get(plain(text));
  if (squashed === undefined) return [{ form: formOf(text), start, end, afterBreak }];
  const middle = end - 1;
  return squashed.map((form, index) =>
    index === 0 ? { form, start, end: middle, afterBreak } : { form, start: middle, end, afterBreak: false },
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
