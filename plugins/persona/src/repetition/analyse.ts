import {
  isEmptyWord,
  likeness,
  paraphrases,
  sameTemplate,
  saysExactly,
  type Wording,
  wordingOf,
  wordsOf,
} from './wording.js';

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
  /** What the turn answers; empty when nobody said anything. */
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
 * Looks at an action before it is carried out, and once more, with its words, before they are said. What somebody asked to hear again, and
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

/** Whether somebody asks for what was said before. */
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
