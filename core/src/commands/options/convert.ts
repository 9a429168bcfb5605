import { parseDuration, z } from '@cinnabar/sdk';
import { echo } from '../answers/answers.js';
import { nearest } from '../directory.js';
import type { Choice, OptionKind, OptionSpec } from './describe.js';
import { type Found, findChannel, findMember, findRole, findUser, type Place } from './find.js';
import { asSentence, wordsFor } from './usage.js';

/** What is wrong with what a member typed. */
export interface Problem {
  /** The option at fault; `undefined` when it is none of them (something too much). */
  readonly option: string | undefined;
  /** One sentence for people. */
  readonly sentence: string;
}

export type Values = Readonly<Record<string, unknown>>;
type Bound = { readonly values: Values } | { readonly problem: Problem };

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

/** What a member gave for one option: words of a message, or the value of a slash option. */
export type GivenValue = string | number | boolean;

type Converter = (spec: OptionSpec, typed: string, place: Place) => Found<unknown> | Promise<Found<unknown>>;

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

const CONVERTERS: Readonly<Record<OptionKind, Converter>> = {
  text: (_spec, typed) => ({ value: typed }),
  rest: (_spec, typed) => ({ value: typed }),
  integer: (spec, typed) => number(spec, typed, 'a whole number'),
  number: (spec, typed) => number(spec, typed, 'a number'),
  boolean: (spec, typed) => orProblem(parseBoolean(typed), spec, typed, 'yes or no'),
  duration: (spec, typed) => orProblem(parseDuration(typed), spec, typed, 'a duration such as `90s` or `1h30m`'),
  choice: (spec, typed) => choose(spec.name, spec.choices, typed),
  user: (_spec, typed, place) => findUser(place, typed),
  member: (spec, typed, { guild }) => (guild === null ? outsideGuild(spec) : findMember(guild, typed)),
  role: (spec, typed, { guild }) => (guild === null ? outsideGuild(spec) : findRole(guild, typed)),
  channel: (spec, typed, { guild }) =>
    guild === null ? outsideGuild(spec) : findChannel(guild, typed, spec.channelTypes),
  attachment: (spec, typed, { attachments }) => orProblem(attachments.get(typed), spec, typed, 'a file'),
};

/** Turns what was given into what the option's schema takes. */
function convert(spec: OptionSpec, given: GivenValue, place: Place): Found<unknown> | Promise<Found<unknown>> {
  // Slash options of these kinds arrive as what they are.
  if (typeof given !== 'string') return { value: given };
  return CONVERTERS[spec.kind](spec, given, place);
}

function number(spec: OptionSpec, typed: string, what: string): Found<unknown> {
  return orProblem(NUMBER.test(typed) ? Number(typed) : undefined, spec, typed, what);
}

function orProblem(value: unknown, spec: OptionSpec, typed: string, what: string): Found<unknown> {
  return value === undefined ? { problem: `\`${spec.name}\` must be ${what}; you gave ${echo(typed)}.` } : { value };
}

function outsideGuild(spec: OptionSpec): Found<unknown> {
  return { problem: `\`${spec.name}\` must be a ${spec.kind} of a server, and this is a direct message.` };
}

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['y', true],
  ['true', true],
  ['on', true],
  ['1', true],
  ['no', false],
  ['n', false],
  ['false', false],
  ['off', false],
  ['0', false],
]);

/** `undefined` when the word is neither a yes nor a no. */
function parseBoolean(text: string): boolean | undefined {
  return WORDS.get(text.toLowerCase());
}

/** One of the choices, whatever its case; else what there is, with the nearest first in mind. */
function choose(name: string, choices: readonly Choice[], typed: string): Found<unknown> {
  const folded = typed.toLowerCase();
  const chosen =
    choices.find((choice) => choice.label === typed) ?? choices.find((choice) => choice.label.toLowerCase() === folded);
  if (chosen !== undefined) return { value: chosen.value };
  const labels = choices.map((choice) => choice.label);
  const [near] = nearest(typed, labels);
  const hint = near === undefined ? '' : ` Did you mean ${echo(near)}?`;
  return { problem: `\`${name}\` must be one of ${labels.map(echo).join(', ')}; you gave ${echo(typed)}.${hint}` };
}

/** The closed list of values of an enum, a literal or a union of literals; empty for any other schema. */
export function choicesOf(schema: z.core.$ZodType): readonly Choice[] {
  if (schema instanceof z.core.$ZodEnum || schema instanceof z.core.$ZodLiteral) {
    return [...schema._zod.values].map((value) => ({ label: String(value), value }));
  }
  if (schema instanceof z.core.$ZodUnion) {
    const parts = schema._zod.def.options.map(choicesOf);
    return parts.every((part) => part.length > 0) ? parts.flat() : [];
  }
  return [];
}

interface Bounds {
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** Inclusive bounds of a number, or of the length of text. Exclusive bounds of fractions are left to the schema. */
export function boundsOf(schema: z.core.$ZodType): Bounds {
  if (!(schema instanceof z.core.$ZodNumber || schema instanceof z.core.$ZodString)) {
    return { min: undefined, max: undefined };
  }
  const json = z.toJSONSchema(schema, { unrepresentable: 'any' });
  if (schema instanceof z.core.$ZodString) return { min: json.minLength, max: json.maxLength };
  const step = json.type === 'integer' ? 1 : undefined;
  return {
    min: safe(json.minimum ?? shifted(json.exclusiveMinimum, step)),
    max: safe(json.maximum ?? shifted(json.exclusiveMaximum, step === undefined ? undefined : -step)),
  };
}

function shifted(bound: number | boolean | undefined, by: number | undefined): number | undefined {
  return typeof bound !== 'number' || by === undefined ? undefined : bound + by;
}

/** zod bounds every integer by what a double holds exactly; that is no bound worth telling. */
function safe(bound: number | undefined): number | undefined {
  return bound === undefined || Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? undefined : bound;
}
