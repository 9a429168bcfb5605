import { distance } from 'fastest-levenshtein';
import { commonFrom } from './common.js';
import { isDenial, termOf, termsOf, wordsOf } from './words.js';

/** Where two texts differ: the words that were there, and those that are there now. */
interface Hunk {
  readonly was: readonly string[];
  readonly is: readonly string[];
  readonly atEnd: boolean;
}

/** Longer messages are compared as though they said something else. */
const MOST_WORDS = 400;
/** The share of letters in which a word and its correction may differ. */
const NEAR = 0.34;

/**
 * What a memory says once the message that it was learned from has been edited: the same after a correction of what it does not say; with the
 * new words where it had the old ones. `undefined` where that cannot be known without understanding: then nothing is remembered of it.
 * @param before what the message said, where that is known
 * @example revised('Alice lives in Watson.', 'I live in Watson', 'I live in Heywood') // 'Alice lives in Heywood.'
 */
export function revised(memory: string, before: string | undefined, after: string): string | undefined {
  if (before === undefined) return isSaidBy(memory, after) ? memory : undefined;
  const hunks = hunksOf(before, after);
  if (hunks === undefined || isDenial(before) !== isDenial(after)) return undefined;
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

/** All that the memory says, but for names, stands in the text. */
function isSaidBy(memory: string, text: string): boolean {
  const said = new Set(termsOf(text.toLowerCase()));
  const names = new Set(
    wordsOf(memory)
      .filter((word) => /^\p{Lu}/u.test(word))
      .map(termOf),
  );
  const terms = termsOf(memory.toLowerCase());
  return (
    isDenial(memory) === isDenial(text) &&
    terms.every((term) => said.has(term) || names.has(term)) &&
    terms.some((term) => said.has(term))
  );
}

/** The memory with the new words in the place of the old ones, where it has those in that order. */
function withWords(memory: string, { was, is }: Hunk): string | undefined {
  if (was.length === 0 || is.length === 0) return undefined;
  const pattern = was.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^\\p{L}\\p{N}]+');
  const found = new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, 'giu');
  return found.test(memory) ? memory.replace(found, () => is.join(' ')) : undefined;
}

function isHarmless({ was, is, atEnd }: Hunk, memory: string): boolean {
  const terms = new Set(termsOf(memory.toLowerCase()));
  const isTold = was.some((word) => terms.has(termOf(word)));
  if (isTold) return false;
  return was.length > 0 && is.length > 0 ? isNear(was, is) : atEnd;
}

function isNear(was: readonly string[], is: readonly string[]): boolean {
  const [one, other] = [was.join('').toLowerCase(), is.join('').toLowerCase()];
  return /\p{N}/u.test(one + other) ? one === other : distance(one, other) <= NEAR * Math.max(one.length, other.length);
}

/** By the longest sequence of words that both have. `undefined` where there are too many words. */
function hunksOf(before: string, after: string): readonly Hunk[] | undefined {
  const [was, is] = [wordsOf(before), wordsOf(after)];
  if (was.length > MOST_WORDS || is.length > MOST_WORDS) return undefined;
  const [a, b] = [was.map((word) => word.toLowerCase()), is.map((word) => word.toLowerCase())];
  const at = commonFrom(a, b);
  const hunks: Hunk[] = [];
  let [fromI, fromJ, i, j] = [0, 0, 0, 0];
  const close = (atEnd: boolean) => {
    if (i > fromI || j > fromJ) hunks.push({ was: was.slice(fromI, i), is: is.slice(fromJ, j), atEnd });
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
  close(true);
  return hunks;
}
