import type { ModelTool } from '@cinnabar/sdk';
import { align } from './align.js';
import { readShape } from './arguments.js';
import { type SlotText, slotText } from './slot-text.js';
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

/** An example that fits but for what stands in one slot's place: it may be more than one thing, or another one. */
export interface Doubt {
  readonly example: string;
  readonly slot: string;
  readonly text: string;
  readonly score: number;
}

export interface Reading {
  /** The tools whose examples fit equally well, the best reading of each. Empty when none fits; more than one is ambiguous. */
  readonly matches: readonly Match[];
  /** The best of what nearly fits, where nothing does. */
  readonly doubt: Doubt | undefined;
}

/** Scores closer than this are equally good: a typo apart is not. */
const EQUAL_WITHIN = 0.25;
const COST_WEIGHT = 2;
const SMALL_WORD_WEIGHT = 0.25;
/** No request that an example describes is longer; what is, is prose. */
const MAX_WORDS = 1000;

/** Reads an utterance as an example of one of the tools. What it could misunderstand, it does not understand. */
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
  const shape = readShape(tool.inputSchema);
  let match: Match | undefined;
  let doubt: Doubt | undefined;
  for (const example of tool.examples ?? []) {
    const template = readTemplate(example, shape.isNumeric);
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
      return [[element.name, slotText(saidIn(place, said, words), element.bracketed)] as const];
    }),
  );
}

/** With the signs that are written together with its first and last word: "(3+4)". */
function saidIn(
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

/** How much of an utterance an example explains by its own words. */
function weightOf(template: readonly Element[]): number {
  return template
    .map((element) => (element.kind === 'slot' ? 0 : element.small ? SMALL_WORD_WEIGHT : 1))
    .reduce<number>((sum, weight) => sum + weight, 0);
}

/** Takes the model's own name, a mention of it and politeness off both ends. */
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
