import { isSmall } from './tolerance.js';
import { splitWords } from './words.js';

/** A piece of an example utterance. */
export type Element =
  | { readonly kind: 'literal'; readonly form: string; readonly small: boolean }
  | { readonly kind: 'slot'; readonly name: string; readonly numeric: boolean; readonly afterBreak: boolean };

const SLOT = /\{(\w+)\}/;

/**
 * Reads an example such as "add {name} to my party, he's a {role}".
 * @param isNumeric which slots take a number: one word that looks like one
 */
export function readTemplate(example: string, isNumeric: (slot: string) => boolean): readonly Element[] {
  const elements: Element[] = [];
  // Splitting by a pattern with a group gives text and slot names in turn.
  const pieces = example.split(SLOT);
  for (const [index, piece] of pieces.entries()) {
    if (index % 2 === 1) {
      const afterBreak = /[,;:]\s*$/.test(pieces[index - 1] ?? '');
      elements.push({ kind: 'slot', name: piece, numeric: isNumeric(piece), afterBreak });
    } else {
      for (const { form } of splitWords(piece)) elements.push({ kind: 'literal', form, small: isSmall(form) });
    }
  }
  return elements;
}

/** The example as a person should read it: "add NAME to my party, he's a ROLE". */
export function readable(example: string): string {
  return example.replace(new RegExp(SLOT, 'g'), (_slot, name: string) => name.replaceAll('_', ' ').toUpperCase());
}
