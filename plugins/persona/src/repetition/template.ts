import { commonFrom } from '../memory/words.js';
import type { Wording } from './wording.js';

/** Words that stay, and how much of the longer text they make up: "Nice to see you, ___! How was your ___?" */
const LEAST_FIXED = 5;
const FIXED = 0.65;
const LONGEST_SLOT = 4;

/** Whether two texts are one sentence with other words in its slots. Where the slots hold nothing but numbers, it is news, not a repetition. */
export function sameTemplate(one: Wording, other: Wording, asked: ReadonlySet<string>): boolean {
  if (one.denies !== other.denies) return false;
  const longest = Math.max(one.words.length, other.words.length);
  if (Math.min(one.words.length, other.words.length) < FIXED * longest || longest < LEAST_FIXED) return false;
  const slots = slotsOf(one.words, other.words);
  const fixed = one.words.length - slots.reduce((sum, slot) => sum + slot.length, 0);
  if (fixed < LEAST_FIXED || fixed < FIXED * longest) return false;
  const filled = slots.flat();
  if (filled.length === 0 || slots.some(({ length }) => length > LONGEST_SLOT)) return false;
  // Who is asked for another thing answers with another thing.
  return !filled.some((word) => asked.has(word)) && filled.some((word) => !/\p{N}/u.test(word));
}

/** The stretches of `one` that are not in `other`, by the longest sequence that both have. */
function slotsOf(one: readonly string[], other: readonly string[]): readonly (readonly string[])[] {
  const at = commonFrom(one, other);
  const slots: string[][] = [];
  let open: string[] | undefined;
  for (let i = 0, j = 0; i < one.length; ) {
    if (j < other.length && one[i] === other[j]) {
      open = undefined;
      i++;
      j++;
    } else if (j < other.length && at(i, j + 1) >= at(i + 1, j)) j++;
    else {
      if (open === undefined) {
        open = [];
        slots.push(open);
      }
      open.push(one[i] ?? '');
      i++;
    }
  }
  return slots;
}
