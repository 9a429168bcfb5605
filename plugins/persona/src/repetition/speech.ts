import { asksForRepeat, isAcknowledgement } from './requests.js';
import { sameTemplate } from './template.js';
import type { RepetitionAnalysis, RepetitionKind, RepetitionPattern } from './types.js';
import { paraphrases, saysExactly, type Wording, wordingOf } from './wording.js';
import { wordsOf } from './words.js';

/** How far back counts as having just said it. */
const RECENT = 20;
const SHOWN = 80;

/** Whether a text says again what was said recently. The latest of the gravest kind is the one that is named. */
export function analyseSpeech(text: string, said: readonly string[], trigger: string): RepetitionAnalysis {
  const pattern = isAcknowledgement(text) ? null : patternIn(wordingOf(text), said.slice(-RECENT), trigger);
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

export const shortened = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line;
};
