import { type CompletedAction, t } from '@cinnabar/sdk';
import { differencesOf, wordsOf } from '../memory/words.js';

/**
 * `exact`: the same words; `template`: the same sentence with other words in some places; `paraphrase`: the same words in another order; `loop`: the same
 * action for the same purpose, or actions that alternate.
 */
export interface RepetitionPattern {
  readonly kind: 'exact' | 'template' | 'paraphrase' | 'loop';
  /** For the event and the log: "says again: …". */
  readonly sentence: string;
  /** The text or action that it repeats. */
  readonly earlier: string;
}

/** The compared features of a text, in any language. */
interface Wording {
  readonly text: string;
  readonly words: readonly string[];
  readonly distinct: ReadonlySet<string>;
  readonly numbers: string;
}

const MAX_TEXT = 2_000;
const MAX_WORDS = 150;
const hasDigit = (word: string) => /\p{N}/u.test(word);

function wordingOf(text: string): Wording {
  const words = wordsOf(text.slice(0, MAX_TEXT)).slice(0, MAX_WORDS);
  return { text, words, distinct: new Set(words), numbers: words.filter(hasDigit).join(' ') };
}

/** Maximum number of words of texts that may be repeated: "Thanks!", "good night everyone". */
const SHORT = 3;
/** Number of earlier texts that are compared. */
const RECENTLY_SAID = 20;

/**
 * Finds what a text repeats, before it is sent. Pure; its time is limited for texts of any length.
 * @param said the latest texts to the same person, oldest first: the last twenty are compared
 * @param trigger the text that is answered: the same sentence with words of another question is another answer
 */
export function repeatedSpeech(text: string, said: readonly string[], trigger: string): RepetitionPattern | undefined {
  const mine = wordingOf(text);
  if (mine.words.length <= SHORT) return undefined;
  const asked = wordingOf(trigger).distinct;
  const earlier = said.slice(-RECENTLY_SAID).map(wordingOf).reverse();
  const kinds = [
    ['exact', isSame],
    ['template', isSameTemplate],
    ['paraphrase', isParaphrase],
  ] as const;
  for (const [kind, matches] of kinds) {
    const found = earlier.find((other) => matches(mine, other, asked));
    if (found === undefined) continue;
    const sentence = t(
      '{kind, select, exact {says again} template {says with a word changed} other {says in other words}}: {text}',
      { kind, text: shortened(found.text) },
    );
    return { kind, sentence, earlier: found.text };
  }
  return undefined;
}

const isSame = (one: Wording, other: Wording): boolean =>
  one.words.length > 0 && one.words.join(' ') === other.words.join(' ');

/** Minimum number of equal words, and their minimum share of the longer text: "Nice to see you, ___! How was your ___?" */
const LEAST_FIXED = 5;
const FIXED = 0.65;
const LONGEST_SLOT = 4;

/** Whether two texts are one sentence with other words in its slots. Slots that contain only numbers are new information, not a repetition. */
function isSameTemplate(one: Wording, other: Wording, asked: ReadonlySet<string>): boolean {
  const longest = Math.max(one.words.length, other.words.length);
  const least = Math.max(LEAST_FIXED, FIXED * longest);
  if (Math.min(one.words.length, other.words.length) < least) return false;
  const slots = slotsOf(one.words, other.words);
  const filled = slots.flatMap(({ mine }) => mine);
  return (
    one.words.length - filled.length >= least &&
    slots.every(({ mine, theirs }) => mine.length > 0 && theirs.length > 0 && mine.length <= LONGEST_SLOT) &&
    !filled.some((word) => asked.has(word)) &&
    filled.some((word) => !hasDigit(word))
  );
}

const LEAST_DISTINCT = 6;
const SAME_WORDS = 0.7;

/** Whether both have the same words in any order. Different numbers, or different words of the question, make another text. */
function isParaphrase(one: Wording, other: Wording, asked: ReadonlySet<string> = new Set()): boolean {
  if (one.numbers !== other.numbers || Math.min(one.distinct.size, other.distinct.size) < LEAST_DISTINCT) return false;
  if ([...one.distinct].some((word) => asked.has(word) && !other.distinct.has(word))) return false;
  return likeness(one.distinct, other.distinct) >= SAME_WORDS && !isTurned(one, other);
}

const SAME_ORDER = 0.8;

/**
 * Whether one word was inserted into a sentence or removed from it, which may negate it in any language. At the beginning or end, such a word is only a filler.
 */
function isTurned({ words }: Wording, { words: others }: Wording): boolean {
  const slots = slotsOf(words, others);
  const common = words.length - slots.reduce((sum, { mine }) => sum + mine.length, 0);
  if (common < SAME_ORDER * Math.max(words.length, others.length)) return false;
  return slots.some(({ mine, theirs, inside }) => inside && mine.length + theirs.length === 1);
}

/** The share of words in common; 0 for two texts without any. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0;
  for (const word of one) if (other.has(word)) common++;
  const all = one.size + other.size - common;
  return all === 0 ? 0 : common / all;
}

/** Where two texts differ. `inside`: neither at the beginning nor at the end. */
function slotsOf(one: readonly string[], other: readonly string[]) {
  return differencesOf(one, other).map(({ mine, theirs }) => ({
    mine: one.slice(...mine),
    theirs: other.slice(...theirs),
    inside: mine[0] > 0 && (mine[1] < one.length || theirs[1] < other.length),
  }));
}

/** An action, and the focus that the planner gave it. */
type Purpose = Pick<CompletedAction, 'action' | 'context'>;

/** Number of latest actions that are searched for loops. */
const RECENT_ACTIONS = 5;
/** Number of consecutive actions of a kind that count as a loop, unless their purposes differ. */
const RUN = 3;
const ALIKE = 0.5;

/** Finds a loop before an action is carried out: the same action for the same purpose, too many of a kind in a row, or two actions that alternate. */
export function actionLoop(completed: readonly Purpose[], proposed: Purpose): RepetitionPattern | undefined {
  const recent = completed.slice(-RECENT_ACTIONS);
  const same = recent.findLast((past) => past.action === proposed.action && isSamePurpose(past, proposed));
  if (same !== undefined) {
    const about = { action: proposed.action, purpose: shortened(same.context) };
    return loop(t('{action} again for the same purpose: {purpose}', about), same);
  }
  const run = recent.slice(-RUN);
  const [first] = run;
  if (first !== undefined && run.length === RUN && run.every((past) => isAgain(past, proposed))) {
    return loop(t('{action} {times} times in a row', { action: proposed.action, times: RUN + 1 }), first);
  }
  const [one, other, again, otherAgain] = recent.slice(-4);
  if (one === undefined || other === undefined || again === undefined || otherAgain === undefined) return undefined;
  const takesTurns =
    one.action !== other.action && isAgain(one, again) && isAgain(other, otherAgain) && isAgain(again, proposed);
  return takesTurns
    ? loop(t('{one} and {other} take turns', { one: one.action, other: other.action }), again)
    : undefined;
}

const loop = (sentence: string, { action, context }: Purpose): RepetitionPattern => ({
  kind: 'loop',
  sentence,
  earlier: context || action,
});

/** Whether the purposes have nearly the same words; `false` without a purpose. */
function isSamePurpose({ context }: Purpose, { context: wanted }: Purpose): boolean {
  if (context.trim() === '' || wanted.trim() === '') return false;
  const [one, other] = [wordingOf(context), wordingOf(wanted)];
  return context.trim() === wanted.trim() || isSame(one, other) || isParaphrase(one, other);
}

/** The same action, and about the same purpose if both have one. */
function isAgain(one: Purpose, other: Purpose): boolean {
  if (one.action !== other.action) return false;
  if (one.context.trim() === '' || other.context.trim() === '') return true;
  return (
    isSamePurpose(one, other) || likeness(wordingOf(one.context).distinct, wordingOf(other.context).distinct) >= ALIKE
  );
}

const SHOWN = 80;

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line;
}
