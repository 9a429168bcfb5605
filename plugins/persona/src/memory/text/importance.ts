import { attributeOf, isQuestion } from './attributes.js';
import { termsOf, wordsOf } from './words.js';

const GRAVE =
  /\b(?:died|dead|death|funeral|cancer|hospital|surgery|allerg\w+|pregnan\w+|married|divorc\w+|engaged|fired|laid off|born|graduat\w+|diagnos\w+|emergency|secret)\b/iu;
const OWN = /\b(?:i|i['’]m|i['’]ve|my|we|our)\b/iu;
const FIRST_WORDS = 4;

/** How much a text is worth remembering, 1-10, where nobody who understands it said so. */
export function estimateImportance(text: string): number {
  if (isQuestion(text)) return 1;
  const terms = termsOf(text);
  if (terms.length < 2) return 1;
  let importance = terms.length < FIRST_WORDS ? 2 : 3;
  if (OWN.test(text)) importance += 1;
  if (attributeOf(text) !== null) importance += 3;
  if (namesSomething(text)) importance += 1;
  if (GRAVE.test(text)) importance += 3;
  return Math.min(10, importance);
}

/** A number, or a name in the middle of a sentence. */
function namesSomething(text: string): boolean {
  return wordsOf(text)
    .slice(1)
    .some((word) => /\p{N}/u.test(word) || (word.length > 1 && /^\p{Lu}\p{Ll}/u.test(word)));
}
