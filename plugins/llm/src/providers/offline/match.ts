import type { ModelTool } from '@cinnabar/sdk';
import { type InputShape, readShape, type SlotText, slotText } from './arguments.js';
import {
  costOfExtra,
  costOfMissing,
  costOfSaying,
  isNumber,
  isPoliteEnd,
  isSmall,
  isSpecific,
  limitFor,
  splitWords,
  type Word,
} from './words.js';

/** A tool, and its arguments from an utterance. */
export interface Match {
  readonly tool: ModelTool;
  readonly example: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly score: number;
}

/** An example that matches except for the text of one slot, which may be several values or another one. */
export interface Doubt {
  readonly example: string;
  readonly slot: string;
  readonly text: string;
  readonly score: number;
}

interface Reading {
  /** The tools whose examples match equally well, each with its best match. Empty when none matches; more than one is ambiguous. */
  readonly matches: readonly Match[];
  /** The best near match, when nothing matches. */
  readonly doubt: Doubt | undefined;
}

/** Scores closer than this count as equal. A typo makes a larger difference. */
const EQUAL_WITHIN = 0.25;
const COST_WEIGHT = 2;
const SMALL_WORD_WEIGHT = 0.25;
/** Longer texts are prose: no example describes a request of this length. */
const MAX_WORDS = 1000;

/** Matches an utterance with the examples of the tools. An ambiguous utterance counts as not understood. */
export function readUtterance(said: string, self: string, tools: readonly ModelTool[]): Reading {
  const words = withoutFrame(splitWords(said), self);
  if (words.length === 0 || words.length > MAX_WORDS) return { matches: [], doubt: undefined };
  const readings = tools.map((tool) => bestOf(tool, said, words));
  const best = readings.flatMap(({ match }) => match ?? []).sort((a, b) => b.score - a.score);
  const doubts = readings.flatMap(({ doubt }) => doubt ?? []).sort((a, b) => b.score - a.score);
  const top = best[0]?.score ?? 0;
  return {
    matches: best.filter(({ score }) => top - score < EQUAL_WITHIN),
    doubt: best.length === 0 ? doubts[0] : undefined,
  };
}

function bestOf(tool: ModelTool, said: string, words: readonly Word[]): { match?: Match; doubt?: Doubt } {
  const { shape, templateOf } = templatesFor(tool.inputSchema);
  let match: Match | undefined;
  let doubt: Doubt | undefined;
  for (const example of tool.examples ?? []) {
    const template = templateOf(example);
    const alignment = align(template, words);
    if (alignment === undefined) continue;
    const score = weightOf(template) - COST_WEIGHT * alignment.cost;
    if (score <= (match?.score ?? Number.NEGATIVE_INFINITY)) continue;
    const filled = shape.fill(textsOf(template, alignment.slots, said, words));
    if (filled?.ok === true) match = { tool, example, input: filled.input, score };
    else if (filled?.ok === false && score > (doubt?.score ?? Number.NEGATIVE_INFINITY)) {
      doubt = { example, slot: filled.slot, text: filled.text, score };
    }
  }
  return { ...(match && { match }), ...(doubt && { doubt }) };
}

interface Templates {
  readonly shape: InputShape;
  templateOf(example: string): readonly Element[];
}

/** Parsed examples by a tool's input schema, which stays the same object while the tool is registered: parsing an example takes longer than comparing it. */
const known = new WeakMap<ModelTool['inputSchema'], Templates>();

function templatesFor(inputSchema: ModelTool['inputSchema']): Templates {
  const found = known.get(inputSchema);
  if (found !== undefined) return found;
  const shape = readShape(inputSchema);
  const read = new Map<string, readonly Element[]>();
  const templates: Templates = {
    shape,
    templateOf(example) {
      const template = read.get(example) ?? readTemplate(example, shape);
      read.set(example, template);
      return template;
    },
  };
  known.set(inputSchema, templates);
  return templates;
}

function textsOf(
  template: readonly Element[],
  slots: ReadonlyMap<string, { readonly from: number; readonly to: number }>,
  said: string,
  words: readonly Word[],
): ReadonlyMap<string, SlotText> {
  return new Map(
    template.flatMap((element) => {
      const place = element.kind === 'slot' ? slots.get(element.name) : undefined;
      if (element.kind !== 'slot' || place === undefined) return [];
      return [[element.name, slotText(textBetween(place, said, words), element.bracketed)] as const];
    }),
  );
}

/** The text of a slot, including the signs next to its first and last word: "(3+4)". */
function textBetween(
  { from, to }: { readonly from: number; readonly to: number },
  said: string,
  words: readonly Word[],
): string {
  const [first, last] = [words[from], words[to - 1]];
  if (first === undefined || last === undefined) return '';
  const before = said.slice(words[from - 1]?.end ?? 0, first.start);
  const after = said.slice(last.end, words[to]?.start ?? said.length);
  return (/\S*$/.exec(before)?.[0] ?? '') + said.slice(first.start, last.end) + (/^\S*/.exec(after)?.[0] ?? '');
}

/** The weight of an example: how much of an utterance its literal words explain. */
function weightOf(template: readonly Element[]): number {
  return template
    .map((element) => (element.kind === 'slot' ? 0 : element.small ? SMALL_WORD_WEIGHT : 1))
    .reduce<number>((sum, weight) => sum + weight, 0);
}

/** Removes the model's own name, a mention of it and polite words from both ends. */
function withoutFrame(words: readonly Word[], self: string): readonly Word[] {
  const own = splitWords(self);
  const mentions = [`<@${self}>`, `@${self}`].map((mention) => mention.toLowerCase());
  const isMention = (form: string) => /^<@[!&]?\d+>$/.test(form) || mentions.includes(form);
  let rest = words;
  for (let before = -1; before !== rest.length; ) {
    before = rest.length;
    const [first] = rest;
    const named = own.length > 0 && own.every(({ form }, index) => rest[index]?.form === form);
    if (named) rest = rest.slice(own.length);
    else if (first !== undefined && !first.operator && (isPoliteEnd(first.form) || isMention(first.form))) {
      rest = rest.slice(1);
    }
    const last = rest.at(-1);
    if (last !== undefined && !last.operator && isPoliteEnd(last.form)) rest = rest.slice(0, -1);
  }
  return rest;
}

/** A piece of an example utterance. */
type Element = Literal | Slot;
interface Literal {
  readonly kind: 'literal';
  readonly form: string;
  readonly small: boolean;
  /** Whether it separates two slots and has only small words: it must not be left out, since the end of the first slot would be unknown. */
  readonly separates: boolean;
}
interface Slot {
  readonly kind: 'slot';
  readonly name: string;
  readonly numeric: boolean;
  /** The slot accepts text of any length: all words belong to it. */
  readonly long: boolean;
  readonly afterBreak: boolean;
  /** The example has brackets around the slot, which are not part of the value. */
  readonly bracketed: boolean;
}

const SLOT = /\{(\w+)\}/;

/**
 * Reads an example such as "add {name} to my party, he's a {role}".
 * @param shape which slots take a number (one word that looks like one), and which a text
 */
function readTemplate(example: string, shape: Pick<InputShape, 'isNumeric' | 'isLong'>): readonly Element[] {
  // Splitting by a pattern with a group returns texts and slot names alternately.
  const pieces = example.split(SLOT);
  return pieces.flatMap((piece, index): readonly Element[] => {
    if (index % 2 === 1) {
      const before = pieces[index - 1] ?? '';
      const numeric = shape.isNumeric(piece);
      const long = shape.isLong(piece);
      return [
        {
          kind: 'slot',
          name: piece,
          numeric,
          long,
          afterBreak: /[,;:]\s*$/.test(before),
          bracketed: before.endsWith('('),
        },
      ];
    }
    // Brackets around a slot belong to the slot.
    const forms = splitWords(piece).flatMap(({ form }) => (/[\p{L}\p{N}]/u.test(form) ? [form] : []));
    const separates = index > 0 && index < pieces.length - 1 && forms.every(isSmall);
    return forms.map((form) => ({ kind: 'literal', form, small: isSmall(form), separates }));
  });
}

/** Whether its literal words are specific enough: an example of only slots, small words and fillers would match anything. */
function isSpecificEnough(template: readonly Element[]): boolean {
  const specificCount = template.filter((element) => element.kind === 'literal' && isSpecific(element.form)).length;
  const open = template.filter((element) => element.kind === 'slot' && !element.numeric && !element.long).length;
  return specificCount > 0 && specificCount >= open;
}

/** Whether the example contains an id, which a person would have to look up. */
export function needsId(example: string): boolean {
  return /\{(?:\w*_)?id\}|\{\w*Id\}/.test(example);
}

/** The example for a person: "add NAME to my party, he's a ROLE". */
export function readable(example: string): string {
  return example.replace(new RegExp(SLOT, 'g'), (_slot, name: string) => spaced(name).toUpperCase());
}

/** `gearPreferences` and `gear_preferences` become "gear preferences". */
function spaced(name: string): string {
  return name.replaceAll('_', ' ').replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
}

/** The range of words that fill each slot: from, to (exclusive). */
interface Alignment {
  readonly cost: number;
  readonly slots: ReadonlyMap<string, { readonly from: number; readonly to: number }>;
}

const [NONE, EXTRA, MISSING, SAID, SLOT_STARTS, SLOT_GOES_ON] = [0, 1, 2, 3, 4, 5];

interface Step {
  readonly cost: number;
  readonly move: number;
}
const IMPOSSIBLE: Step = { cost: Number.POSITIVE_INFINITY, move: NONE };

/**
 * The cheapest alignment of `words` with `template`: an edit distance over words in which slots take one word or more.
 * Time grows with the product of the two lengths, for any words.
 */
function align(template: readonly Element[], words: readonly Word[]): Alignment | undefined {
  const literals = template.filter((element) => element.kind === 'literal');
  if (!isSpecificEnough(template)) return undefined;
  const limit = limitFor(literals.length);
  const width = words.length + 1;
  const moves = new Uint8Array((template.length + 1) * width);

  let above: Float64Array = new Float64Array(width);
  for (const [index, word] of words.entries()) {
    above[index + 1] = (above[index] ?? 0) + costOfExtra(word);
    moves[index + 1] = EXTRA;
  }
  for (const [index, element] of template.entries()) {
    const row = new Float64Array(width).fill(Number.POSITIVE_INFINITY);
    let best = Number.POSITIVE_INFINITY;
    for (let column = 0; column < width; column++) {
      const { cost, move } = bestStep(element, template[index - 1], words[column - 1], above, row, column);
      row[column] = cost;
      moves[(index + 1) * width + column] = move;
      best = Math.min(best, cost);
    }
    if (best > limit) return undefined;
    above = row;
  }
  const cost = above[width - 1] ?? Number.POSITIVE_INFINITY;
  return cost <= limit ? { cost, slots: slotsOf(template, moves, width) } : undefined;
}

function bestStep(
  element: Element,
  before: Element | undefined,
  word: Word | undefined,
  above: Float64Array,
  row: Float64Array,
  column: number,
): Step {
  const diagonal = above[column - 1] ?? Number.POSITIVE_INFINITY;
  const left = row[column - 1] ?? Number.POSITIVE_INFINITY;
  if (element.kind === 'slot') {
    if (word === undefined || (element.numeric && !isNumber(word.form))) return IMPOSSIBLE;
    // Between two slots, a word has to mark the end of the first one.
    const misplaced = before?.kind === 'slot' && !isMarked(element, before, word);
    const starts = { cost: misplaced ? Number.POSITIVE_INFINITY : diagonal, move: SLOT_STARTS };
    // On equal cost the slot continues, so that the previous slot ends as early as possible.
    return element.numeric || left > starts.cost ? starts : { cost: left, move: SLOT_GOES_ON };
  }
  const missing = { cost: (above[column] ?? Number.POSITIVE_INFINITY) + costOfMissing(element), move: MISSING };
  if (word === undefined) return missing;
  const said = { cost: diagonal + costOfSaying(word, element.form), move: SAID };
  const extra = { cost: left + costOfExtra(word), move: EXTRA };
  return [said, extra, missing].reduce((best, step) => (step.cost < best.cost ? step : best));
}

function isMarked(slot: Slot, before: Slot, word: Word): boolean {
  if (slot.bracketed) return word.operator;
  return slot.afterBreak ? word.afterBreak : slot.numeric || before.numeric;
}

function slotsOf(template: readonly Element[], moves: Uint8Array, width: number): Alignment['slots'] {
  const slots = new Map<string, { readonly from: number; readonly to: number }>();
  let row = template.length;
  let column = width - 1;
  const move = () => moves[row * width + column];
  while (row > 0) {
    const element = template[row - 1];
    if (element?.kind === 'slot') {
      const to = column;
      while (move() === SLOT_GOES_ON) column--;
      column--;
      row--;
      slots.set(element.name, { from: column, to });
    } else {
      const taken = move();
      if (taken !== MISSING) column--;
      if (taken !== EXTRA) row--;
    }
  }
  return slots;
}
