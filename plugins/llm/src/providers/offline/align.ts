import { isNumber } from './numbers.js';
import { type Element, isTellingEnough, type Slot } from './template.js';
import { costOfExtra, costOfMissing, costOfSaying, limitFor } from './tolerance.js';
import type { Word } from './words.js';

/** Which words of the utterance fill each slot: from, to (exclusive). */
export interface Alignment {
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
 * The cheapest way to read `words` as an utterance of `template`: an edit distance over words in which slots take one word or more.
 * Time grows with the product of the two lengths, whatever the words are.
 */
export function align(template: readonly Element[], words: readonly Word[]): Alignment | undefined {
  const literals = template.filter((element) => element.kind === 'literal');
  if (!isTellingEnough(template)) return undefined;
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
    // Between two slots something has to say where the first one ends.
    const misplaced = before?.kind === 'slot' && !isMarked(element, before, word);
    const starts = { cost: misplaced ? Number.POSITIVE_INFINITY : diagonal, move: SLOT_STARTS };
    // Going on is preferred: then the slot before ends as early as it can.
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
