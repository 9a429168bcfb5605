import { createRequire } from 'node:module';

/** Unicode's table of confusable characters, as `unhomoglyph` has it. Not before it is needed: it takes milliseconds to read. */
let loaded: ((text: string) => string) | undefined;

/**
 * What a text looks like: texts that people would take for one another have the same, whatever characters they are made of (Unicode UTS 39).
 * @example skeletonOf('Аlice') === skeletonOf('Alice') // the first one begins with a Cyrillic А
 */
export function skeletonOf(text: string): string {
  loaded ??= createRequire(import.meta.url)('unhomoglyph') as (text: string) => string;
  return loaded(text.normalize('NFKD'));
}

/** What is left of a name when case, width, accents, decoration and look-alike letters are ignored: the same for names to be kept apart. */
export function likenessOf(name: string): string {
  // A capital I is an l to the eye, and an i when written small.
  const letters = skeletonOf(skeletonOf(name.normalize('NFKD').toLowerCase()).toLowerCase())
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('i', 'l');
  return letters || name;
}

/** Scripts whose letters look like those of another one of them. */
const LOOKALIKES = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu', 'Deseret', 'Georgian'].map(
  (script) => new RegExp(`\\p{Script=${script}}`, 'u'),
);
const ASCII_NAME = /^[\p{ASCII}]*$/u;
const LETTER = /\p{L}/u;

/**
 * Whether a name can pass for one that it is not: its letters come from several scripts that look alike, or all of them from another script than
 * Latin although it reads as Latin.
 */
export function isConfusable(name: string): boolean {
  if (ASCII_NAME.test(name)) return false;
  const scripts = LOOKALIKES.filter((script) => script.test(name)).length;
  if (scripts > 1) return true;
  const letters = [...name.normalize('NFKC')].filter((character) => LETTER.test(character)).join('');
  return letters !== '' && !/\p{Script=Latin}/u.test(letters) && ASCII_NAME.test(skeletonOf(letters));
}
