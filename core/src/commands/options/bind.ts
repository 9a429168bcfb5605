import { convert, type GivenValue } from './convert.js';
import type { Place } from './place.js';
import { asSentence, wordsFor } from './sentence.js';
import type { OptionSpec } from './spec.js';

/** What is wrong with what a member typed. */
export interface Problem {
  /** The option at fault; `undefined` when it is none of them (something too much). */
  readonly option: string | undefined;
  /** One sentence for people. */
  readonly sentence: string;
}

export type Values = Readonly<Record<string, unknown>>;
export type Bound = { readonly values: Values } | { readonly problem: Problem };

type BoundOne = { readonly value: unknown } | { readonly problem: Problem };

/** Converts and validates what was given for each option; the first problem ends it. */
export async function bindOptions(
  specs: readonly OptionSpec[],
  given: ReadonlyMap<string, GivenValue>,
  place: Place,
): Promise<Bound> {
  const values = new Map<string, unknown>();
  for (const spec of specs) {
    const bound = await bindOne(spec, given.get(spec.name), place);
    if ('problem' in bound) return bound;
    values.set(spec.name, bound.value);
  }
  return { values: Object.fromEntries(values) };
}

async function bindOne(spec: OptionSpec, given: GivenValue | undefined, place: Place): Promise<BoundOne> {
  const wrong = (sentence: string): BoundOne => ({ problem: { option: spec.name, sentence } });
  if (given === undefined && spec.required) return wrong(`\`${spec.name}\` is missing.`);
  const input = given === undefined ? { value: spec.absent } : await convert(spec, given, place);
  if ('problem' in input) return wrong(input.problem);
  const words = wordsFor(spec, String(given ?? ''));
  const parsed = await spec.schema.safeParseAsync(input.value, { error: words });
  return parsed.success
    ? { value: parsed.data }
    : wrong(asSentence(spec, parsed.error.issues[0]?.message ?? 'is not right'));
}
