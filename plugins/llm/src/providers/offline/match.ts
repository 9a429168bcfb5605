import type { ModelTool } from '@cinnabar/sdk';
import { align } from './align.js';
import { readShape } from './arguments.js';
import { type Element, readTemplate } from './template.js';
import { isPoliteEnd } from './tolerance.js';
import { splitWords, type Word } from './words.js';

/** A tool and the arguments that an utterance gives it. */
export interface Match {
  readonly tool: ModelTool;
  readonly example: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly score: number;
}

/** Scores closer than this are equally good: a typo apart is not. */
const EQUAL_WITHIN = 0.25;
const COST_WEIGHT = 2;
const SMALL_WORD_WEIGHT = 0.25;
/** No request that an example describes is longer; what is, is prose. */
const MAX_WORDS = 1000;

/** The tools whose examples fit an utterance equally well, the best reading of each. Empty when none fits; more than one is ambiguous. */
export function findMatches(said: string, self: string, tools: readonly ModelTool[]): readonly Match[] {
  const words = withoutFrame(splitWords(said), splitWords(self));
  if (words.length === 0 || words.length > MAX_WORDS) return [];
  const best = tools
    .map((tool) => bestMatch(tool, said, words))
    .filter((match) => match !== undefined)
    .sort((a, b) => b.score - a.score);
  const top = best[0]?.score ?? 0;
  return best.filter(({ score }) => top - score < EQUAL_WITHIN);
}

function bestMatch(tool: ModelTool, said: string, words: readonly Word[]): Match | undefined {
  const shape = readShape(tool.inputSchema);
  let best: Match | undefined;
  for (const example of tool.examples ?? []) {
    const template = readTemplate(example, shape.isNumeric);
    const alignment = align(template, words);
    if (alignment === undefined) continue;
    const input = shape.fill(textsOf(alignment.slots, said, words));
    const score = weightOf(template) - COST_WEIGHT * alignment.cost;
    if (input !== undefined && (best === undefined || score > best.score)) best = { tool, example, input, score };
  }
  return best;
}

function textsOf(
  slots: ReadonlyMap<string, { readonly from: number; readonly to: number }>,
  said: string,
  words: readonly Word[],
): ReadonlyMap<string, string> {
  return new Map(
    [...slots].map(
      ([name, { from, to }]) => [name, said.slice(words[from]?.start ?? 0, words[to - 1]?.end ?? 0)] as const,
    ),
  );
}

/** How much of an utterance an example explains by its own words. */
function weightOf(template: readonly Element[]): number {
  return template
    .map((element) => (element.kind === 'slot' ? 0 : element.small ? SMALL_WORD_WEIGHT : 1))
    .reduce<number>((sum, weight) => sum + weight, 0);
}

/** Takes the model's own name, a mention and politeness off both ends. */
function withoutFrame(words: readonly Word[], self: readonly Word[]): readonly Word[] {
  let rest = words;
  for (let before = -1; before !== rest.length; ) {
    before = rest.length;
    const named = self.length > 0 && self.every(({ form }, index) => rest[index]?.form === form);
    if (named) rest = rest.slice(self.length);
    else if (rest[0] !== undefined && (isPoliteEnd(rest[0].form) || /^<?@/.test(rest[0].form))) rest = rest.slice(1);
    const last = rest.at(-1);
    if (last !== undefined && isPoliteEnd(last.form)) rest = rest.slice(0, -1);
  }
  return rest;
}
