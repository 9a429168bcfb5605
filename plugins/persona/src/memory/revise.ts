import { distance } from 'fastest-levenshtein';
import { commonFrom, folded } from './words.js';

/** Where two texts differ: the words that were there, and those that are there now. */
interface Hunk {
  readonly was: readonly string[];
  readonly is: readonly string[];
  /** Whether it is a sentence of its own after all that was there. */
  readonly isAfterwards: boolean;
}

/** Longer messages are compared as though they said something else. */
const MOST_WORDS = 400;
/** How many letters, and which share of them, a correction may change. */
const MOST_LETTERS = 2;
const NEAR = 0.34;
const WORD = /[\p{L}\p{N}\p{M}]+(?:['’][\p{L}]+)*/gu;
const SENTENCE_END = /[.!?…。！？؟।\n]["'”’)\]]*\s*$/u;

/**
 * What a memory says once the message that it was learned from has been edited: the same after a correction of what it does not say; with the
 * new words where it had the old ones. `undefined` where that cannot be known without understanding: then nothing is remembered of it.
 * @param before what the message said, where that is known
 * @example revised('Alice lives in Watson.', 'I live in Watson', 'I live in Heywood') // 'Alice lives in Heywood.'
 */
export function revised(memory: string, before: string | undefined, after: string): string | undefined {
  if (before === undefined) return sameWords(memory, after) ? memory : undefined;
  const hunks = hunksOf(before, after);
  if (hunks === undefined) return undefined;
  let text = memory;
  for (const hunk of hunks) {
    const replaced = withWords(text, hunk);
    if (replaced !== undefined) text = replaced;
    else if (!isHarmless(hunk, memory)) return undefined;
  }
  return text;
}

/** Whether an edit only corrects how something is written. */
export function isCorrection(before: string, after: string): boolean {
  const hunks = hunksOf(before, after);
  return hunks?.every(({ was, is }) => was.length > 0 && is.length > 0 && isNear(was, is)) === true;
}

const wordsIn = (text: string): readonly string[] => text.match(WORD) ?? [];

const sameWords = (one: string, other: string): boolean =>
  wordsIn(folded(one)).join(' ') === wordsIn(folded(other)).join(' ');

/** The memory with the new words in the place of the old ones, where it has those in that order. */
function withWords(memory: string, { was, is }: Hunk): string | undefined {
  if (was.length === 0 || is.length === 0) return undefined;
  const pattern = was.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^\\p{L}\\p{N}]+');
  const found = new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, 'giu');
  return found.test(memory) ? memory.replace(found, () => is.join(' ')) : undefined;
}

function isHarmless({ was, is, isAfterwards }: Hunk, memory: string): boolean {
  const told = new Set(wordsIn(folded(memory)));
  if (was.some((word) => told.has(folded(word)))) return false;
  return was.length > 0 && is.length > 0 ? isNear(was, is) : isAfterwards;
}

/** Whether one may be the other with a slip of the pen: seldom in the first letter, never in a number. */
function isNear(was: readonly string[], is: readonly string[]): boolean {
  const [one, other] = [was.join(''), is.join('')].map(folded);
  if (one === undefined || other === undefined || one[0] !== other[0] || /\p{N}/u.test(one + other))
    return one === other;
  return distance(one, other) <= Math.min(MOST_LETTERS, NEAR * Math.max(one.length, other.length));
}

/** By the longest sequence of words that both have. `undefined` where there are too many words. */
function hunksOf(before: string, after: string): readonly Hunk[] | undefined {
  const [was, is] = [wordsIn(before), wordsIn(after)];
  if (was.length > MOST_WORDS || is.length > MOST_WORDS) return undefined;
  const [a, b] = [was.map(folded), is.map(folded)];
  const at = commonFrom(a, b);
  const hunks: Hunk[] = [];
  let [fromI, fromJ, i, j] = [0, 0, 0, 0];
  const close = (isAfterwards: boolean) => {
    if (i > fromI || j > fromJ) hunks.push({ was: was.slice(fromI, i), is: is.slice(fromJ, j), isAfterwards });
  };
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      close(false);
      i++;
      j++;
      [fromI, fromJ] = [i, j];
    } else if (at(i, j + 1) >= at(i + 1, j)) j++;
    else i++;
  }
  [i, j] = [a.length, b.length];
  close(startsSentence(after, fromJ));
  return hunks;
}

/** Whether the words from the n-th on are sentences of their own. */
function startsSentence(text: string, index: number): boolean {
  const word = [...text.matchAll(WORD)][index];
  return word !== undefined && SENTENCE_END.test(text.slice(0, word.index).replace(/["'“‘([*_~]+$/u, ''));
}
