import { stemmer } from 'stemmer';
import { commonFrom } from '../memory/words.js';

/** A text as far as repetition goes. Beyond 150 words nothing is looked at. */
interface Wording {
  readonly text: string;
  readonly words: readonly string[];
  readonly terms: ReadonlySet<string>;
  readonly numbers: string;
  readonly denies: boolean;
}

const MAX_TEXT = 2_000;
const MAX_WORDS = 150;

function wordingOf(text: string): Wording {
  const clean = text.slice(0, MAX_TEXT);
  const words = wordsOf(clean.toLowerCase()).slice(0, MAX_WORDS);
  return {
    text: clean,
    words,
    terms: new Set(termsOf(words.join(' '))),
    numbers: words.filter((word) => /\p{N}/u.test(word)).join(' '),
    denies: isDenial(clean),
  };
}

const saysExactly = (one: Wording, other: Wording): boolean =>
  one.words.length > 0 &&
  one.words.length === other.words.length &&
  one.words.every((word, at) => word === other.words[at]);

const LEAST_TERMS = 4;
const SAME_TERMS = 0.75;

/** Whether both are about the same words, whatever the order and whatever fills the gaps. Different numbers and denials make a difference. */
function paraphrases(one: Wording, other: Wording): boolean {
  if (one.denies !== other.denies || one.numbers !== other.numbers) return false;
  return Math.min(one.terms.size, other.terms.size) >= LEAST_TERMS && likeness(one.terms, other.terms) >= SAME_TERMS;
}

/** The share of words in common; 0 for two texts without any. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0;
  for (const term of one) if (other.has(term)) common++;
  const all = one.size + other.size - common;
  return all === 0 ? 0 : common / all;
}

/** Words that stay, and how much of the longer text they make up: "Nice to see you, ___! How was your ___?" */
const LEAST_FIXED = 5;
const FIXED = 0.65;
const LONGEST_SLOT = 4;

/** Whether two texts are one sentence with other words in its slots. Where the slots hold nothing but numbers, it is news, not a repetition. */
function sameTemplate(one: Wording, other: Wording, asked: ReadonlySet<string>): boolean {
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

/** Words that say nothing of what a text is about. Negations and numbers are none of them. */
const EMPTY: ReadonlySet<string> = new Set(
  `a about actually after ah all also am an and any are aren as at be because been before being btw but by can could d did didn do does
  doesn doing don done ever for from get gets getting got had has have having he hello hey hi hm hmm i if im in into is isn it its ive just ll
  lol m maybe me more most much my myself now of oh ok okay on or our ours out over quite re really s same she so some still such t than thanks
  how should must might shall him her his hers he she they us one ones which let lets again ever go goes going went say says said tell told
  that the their theirs them then there these they this those to too up us ve very was wasn we well were weren what when where which while who
  whom whose why will with won would wouldn yeah yes you your yours`.split(/\s+/),
);
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const WORD = /[\p{L}\p{N}\p{M}]+(?:[''’][\p{L}]+)*/gu;
const MAX_LENGTH = 4_000;

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** The words as they are written, without punctuation; a possessive's `'s` is left out. Text beyond 4,000 characters does not count. */
function wordsOf(text: string): readonly string[] {
  const clean = text.slice(0, MAX_LENGTH).normalize('NFKC');
  if (!UNSPACED.test(clean)) return (clean.match(WORD) ?? []).map(withoutPossessive);
  return [...segmenter.segment(clean)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
}

const withoutPossessive = (word: string) => word.replace(/[''’]s$/iu, '');

/** The same for all forms of an English word; other languages' words mostly stay as they are. */
function termOf(word: string): string {
  const lower = word.toLowerCase().replaceAll(/['’]/g, '');
  return /^[a-z]{3,30}$/.test(lower) ? stemmer(lower) : lower;
}

const isEmptyWord = (word: string): boolean => EMPTY.has(word.toLowerCase().replaceAll(/['’]/g, ''));

/** What a text is about, word by word, in order. When every word is an empty one, all of them. */
function termsOf(text: string): readonly string[] {
  const words = wordsOf(text);
  const telling = words.filter((word) => !isEmptyWord(word));
  return (telling.length > 0 ? telling : words).map(termOf);
}

const NEGATION =
  /\b(?:not|no|never|none|nothing|cannot|without|stopped|quit|hardly|(?:do|does|did|is|are|was|were|has|have|had|ca|could|wo|would|should|ai)n['’]?t)\b/iu;

/** Whether a text denies something. */
const isDenial = (text: string): boolean => NEGATION.test(text);

/** An action that was carried out in this turn. */
export interface PastAction {
  readonly action: string;
  /** What the planner wanted it to look at. */
  readonly context?: string | undefined;
  /** What came of it. */
  readonly result?: string | undefined;
}

export interface RepetitionInput {
  /** Of this turn, oldest first; the last five count. */
  readonly completed: readonly PastAction[];
  /** What is to come. `text` is there once an action that speaks has its words: before they are sent. */
  readonly proposed: {
    readonly action: string;
    readonly context?: string | undefined;
    readonly text?: string | undefined;
  };
  /** What the turn answers; empty when no one said anything. */
  readonly trigger: string;
  /** What the persona said in this run, and lately to the person it answers; oldest first, the last twenty count. */
  readonly said: readonly string[];
}

/**
 * `exact`: the same words; `paraphrase`: the same in other words or order; `template`: the same sentence with other words in its slots;
 * `loop`: the same action for the same purpose, or actions going round in a circle.
 */
type RepetitionKind = 'exact' | 'paraphrase' | 'template' | 'loop';

export interface RepetitionPattern {
  readonly kind: RepetitionKind;
  /** For the event and the log: "says again: …". */
  readonly sentence: string;
  /** What it repeats. */
  readonly earlier: string;
}

interface RepetitionAnalysis {
  readonly shouldStop: boolean;
  /** Also there when it was seen but is allowed, because it was asked for. */
  readonly pattern: RepetitionPattern | null;
}

/** Pure, and bounded in time whatever the texts are. */
type AnalyseRepetition = (input: RepetitionInput) => RepetitionAnalysis;

/** Who asks to hear something again does not ask for an action to be carried out time and again. */
const REPEATED_AS_ASKED = 2;

/**
 * Looks at an action before it is carried out, and once more, with its words, before they are said. What a member asked to hear again, and
 * short acknowledgements, are never stopped.
 */
export const analyseRepetition: AnalyseRepetition = ({ completed, proposed, trigger, said }) => {
  if (proposed.text !== undefined) return analyseSpeech(proposed.text, said, trigger);
  const pattern = loopIn(completed, proposed);
  const times = completed.filter(({ action }) => action === proposed.action).length;
  const asked = asksForRepeat(trigger) && times < REPEATED_AS_ASKED;
  return { pattern, shouldStop: pattern !== null && !asked };
};

/** What lies further back is no circle any more. */
const RECENT_ACTIONS = 5;
/** So many of a kind in a row are thinking in circles, unless each is for something else. */
const RUN = 3;
const ALIKE = 0.5;

type Proposed = Pick<PastAction, 'action' | 'context'>;

/** Whether an action was just carried out for the same purpose, follows on a run of its own kind, or goes round in a circle. */
function loopIn(completed: readonly PastAction[], proposed: Proposed): RepetitionPattern | null {
  const recent = completed.slice(-RECENT_ACTIONS);
  const same = recent.findLast((past) => past.action === proposed.action && isSamePurpose(past, proposed));
  if (same !== undefined)
    return loop(`${proposed.action} again for the same purpose: ${shortened(same.context ?? '')}`, same);

  const run = recent.slice(-RUN);
  const [first] = run;
  if (
    first !== undefined &&
    run.length === RUN &&
    run.every((past) => past.action === proposed.action && isAlike(past, proposed))
  ) {
    return loop(`${proposed.action} ${RUN + 1} times in a row`, first);
  }
  const [one, other, again, otherAgain] = recent.slice(-4);
  if (one === undefined || other === undefined || again === undefined || otherAgain === undefined) return null;
  const turns =
    one.action !== other.action &&
    isAgain(one, again) &&
    isAgain(other, otherAgain) &&
    proposed.action === again.action &&
    isAlike(again, proposed);
  return turns ? loop(`${one.action} and ${other.action} take turns`, again) : null;
}

const loop = (sentence: string, past: PastAction): RepetitionPattern => ({
  kind: 'loop',
  sentence,
  earlier: past.context ?? past.action,
});

const isAgain = (one: PastAction, other: PastAction) => one.action === other.action && isAlike(one, other);

/** In nearly the same words. Without a purpose that is given, nothing can be said. */
function isSamePurpose({ context = '' }: Proposed, { context: wanted = '' }: Proposed): boolean {
  if (context.trim() === '' || wanted.trim() === '') return false;
  const [one, other] = [wordingOf(context), wordingOf(wanted)];
  return context.trim() === wanted.trim() || saysExactly(one, other) || paraphrases(one, other);
}

/** About the same, as far as a purpose is given. */
function isAlike({ context = '' }: Proposed, { context: wanted = '' }: Proposed): boolean {
  if (context.trim() === '' || wanted.trim() === '') return true;
  return (
    isSamePurpose({ action: '', context }, { action: '', context: wanted }) ||
    likeness(wordingOf(context).terms, wordingOf(wanted).terms) >= ALIKE
  );
}

/** How far back counts as having just said it. */
const RECENTLY_SAID = 20;
const SHOWN = 80;

/** Whether a text says again what was said recently. The latest of the gravest kind is the one that is named. */
function analyseSpeech(text: string, said: readonly string[], trigger: string): RepetitionAnalysis {
  const pattern = isAcknowledgement(text) ? null : patternIn(wordingOf(text), said.slice(-RECENTLY_SAID), trigger);
  return { pattern, shouldStop: pattern !== null && !asksForRepeat(trigger) };
}

function patternIn(mine: Wording, said: readonly string[], trigger: string): RepetitionPattern | null {
  const earlier = said.map(wordingOf).reverse();
  const asked = new Set(wordsOf(trigger.slice(0, 2_000).toLowerCase()));
  const kinds: readonly (readonly [RepetitionKind, string, (other: Wording) => boolean])[] = [
    ['exact', 'says again', (other) => saysExactly(mine, other)],
    ['paraphrase', 'says in other words', (other) => paraphrases(mine, other)],
    ['template', 'says with a word changed', (other) => sameTemplate(mine, other, asked)],
  ];
  for (const [kind, verb, matches] of kinds) {
    const found = earlier.find(matches);
    if (found !== undefined) return { kind, sentence: `${verb}: ${shortened(found.text)}`, earlier: found.text };
  }
  return null;
}

const shortened = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line;
};

const AGAIN =
  /\b(?:again|repeat\w*|once more|one more time|another time|say (?:that|it|what)|come again|encore|pardon|(?:did|do)n['’]?t (?:hear|catch|get|understand|see|read)|what did you (?:just )?say|what was that|(?:noch ?mal|nochmals|wiederhol\w*|répèt\w*|otra vez|repite|de novo|ancora))\b|^\s*(?:sorry|what|huh|eh|hm+)\s*\?+\s*$/iu;

/** Whether a member asks for what was said before. */
const asksForRepeat = (trigger: string): boolean => AGAIN.test(trigger.slice(0, 2_000));

const ACKNOWLEDGING: ReadonlySet<string> = new Set(
  `ok okay yes no yeah yep nope sure thanks thank cheers lol haha hehe hi hello hey bye cya welcome sorry right exactly great nice cool good fine
  alright indeed agreed understood noted done true please np yw gn gm night morning evening ty thx mhm aha wow oops congrats course problem`.split(
    /\s+/,
  ),
);
const SHORT = 2;
const SHORT_IF_POLITE = 6;

/** Whether a text is so short, or so much a matter of course, that people say it time and again: "Thanks!", "good night everyone". */
function isAcknowledgement(text: string): boolean {
  const words = wordsOf(text.toLowerCase());
  if (words.length <= SHORT) return true;
  if (words.length > SHORT_IF_POLITE) return false;
  return words.every(
    (word) => ACKNOWLEDGING.has(word) || isEmptyWord(word) || /^(?:all|everyone|everybody)$/.test(word),
  );
}
