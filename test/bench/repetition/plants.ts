import type { Chance } from '../memory/chance.js';
import type { Line } from './logs.js';

/** A line that repeats an earlier one, made from real lines. */
export type Plant = (line: Line, chance: Chance, all: readonly Line[]) => string | undefined;

/** Minimum length of lines worth stopping: people repeat shorter lines all the time. */
const LEAST_WORDS = 6;
const FILLERS = ['well', 'so', 'I mean', 'you know', 'actually', 'hm'];

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== '');
const isLong = (text: string) => wordsOf(text).length >= LEAST_WORDS && /^[\x20-\x7e]+$/.test(text);

/** An earlier line of the same person. */
function earlier({ said }: Line, chance: Chance): string | undefined {
  const long = said.filter(isLong);
  return long.length === 0 ? undefined : chance.pick(long);
}

/** The same line, sometimes with different capitals and punctuation. */
export const exact: Plant = (line, chance) => {
  const text = earlier(line, chance);
  if (text === undefined) return undefined;
  if (chance.happens(0.3)) return `${text.toLowerCase().replace(/[.!?]+$/, '')}!`;
  return text;
};

/** The same line with one word in seven, at least one, replaced by a word from elsewhere. */
export const template: Plant = (line, chance, all) => {
  const text = earlier(line, chance);
  if (text === undefined) return undefined;
  const words = wordsOf(text);
  const plain = words.flatMap((word, at) => (/^[a-z]{4,}$/i.test(word) ? [at] : []));
  if (plain.length === 0) return undefined;
  for (let count = Math.max(1, Math.floor(words.length / 7)); count > 0; count--) {
    const [at] = plain.splice(chance.below(plain.length), 1);
    if (at !== undefined) words[at] = anyWord(chance, all);
  }
  return words.join(' ');
};

/** The same words in another order, with a word or two removed or inserted. No synonyms: harder paraphrases are not generated. */
export const paraphrase: Plant = (line, chance) => {
  const text = earlier(line, chance);
  if (text === undefined) return undefined;
  const words = wordsOf(text);
  const cut = 1 + chance.below(words.length - 1);
  const turned = [...words.slice(cut), ...words.slice(0, cut)];
  turned.splice(chance.below(turned.length), 1);
  return [chance.pick(FILLERS), ...turned].join(' ');
};

function anyWord(chance: Chance, all: readonly Line[]): string {
  for (;;) {
    const words = wordsOf(chance.pick(all).text).filter((word) => /^[a-z]{4,}$/i.test(word));
    if (words.length > 0) return chance.pick(words);
  }
}
