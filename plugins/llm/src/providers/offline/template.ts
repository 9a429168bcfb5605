import { isSmall, isTelling } from './tolerance.js';
import { splitWords } from './words.js';

/** A piece of an example utterance. */
export type Element = Literal | Slot;
export interface Literal {
  readonly kind: 'literal';
  readonly form: string;
  readonly small: boolean;
  /** With small words alone it stands between two slots: without it, nothing tells where the first one ends. */
  readonly separates: boolean;
}
export interface Slot {
  readonly kind: 'slot';
  readonly name: string;
  readonly numeric: boolean;
  readonly afterBreak: boolean;
  /** The example has it in brackets, which are not part of the value. */
  readonly bracketed: boolean;
}

const SLOT = /\{(\w+)\}/;

/**
 * Reads an example such as "add {name} to my party, he's a {role}".
 * @param isNumeric which slots take a number: one word that looks like one
 */
export function readTemplate(example: string, isNumeric: (slot: string) => boolean): readonly Element[] {
  // Splitting by a pattern with a group gives text and slot names in turn.
  const pieces = example.split(SLOT);
  return pieces.flatMap((piece, index): readonly Element[] => {
    if (index % 2 === 1) {
      const before = pieces[index - 1] ?? '';
      const numeric = isNumeric(piece);
      return [
        { kind: 'slot', name: piece, numeric, afterBreak: /[,;:]\s*$/.test(before), bracketed: before.endsWith('(') },
      ];
    }
    // Brackets around a slot belong to the slot.
    const forms = splitWords(piece).flatMap(({ form }) => (/[\p{L}\p{N}]/u.test(form) ? [form] : []));
    const separates = index > 0 && index < pieces.length - 1 && forms.every(isSmall);
    return forms.map((form) => ({ kind: 'literal', form, small: isSmall(form), separates }));
  });
}

/** Whether its own words say enough: an example made of slots, small words and fillers would match anything. */
export function isTellingEnough(template: readonly Element[]): boolean {
  const telling = template.filter((element) => element.kind === 'literal' && isTelling(element.form)).length;
  const open = template.filter((element) => element.kind === 'slot' && !element.numeric).length;
  return telling > 0 && telling >= open;
}

/** Whether a person would have to know an id to say it. */
export function needsId(example: string): boolean {
  return /\{(?:\w*_)?id\}|\{\w*Id\}/.test(example);
}

/** The example as a person should read it: "add NAME to my party, he's a ROLE". */
export function readable(example: string): string {
  return example.replace(new RegExp(SLOT, 'g'), (_slot, name: string) => spaced(name).toUpperCase());
}

/** `gearPreferences` and `gear_preferences` are read as "gear preferences". */
function spaced(name: string): string {
  return name.replaceAll('_', ' ').replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
}
