import { formatDuration, type OptionTraits, optionTraits, type Suggest, t, z } from '@cinnabar/sdk';
import { echo } from './answers.js';

export type OptionKind = 'text' | 'integer' | 'number' | 'boolean' | 'choice' | NonNullable<OptionTraits['kind']>;

export interface Choice {
  /** The name in messages and in the help. */
  readonly label: string;
  readonly value: unknown;
}

/** The description of one option for the parser, the slash menu and the help, derived from its schema alone. */
export interface OptionSpec {
  readonly name: string;
  readonly description: string;
  readonly kind: OptionKind;
  readonly required: boolean;
  readonly schema: z.ZodType;
  /** The schema's input when the member omits the option. */
  readonly absent: undefined | null;
  readonly default: unknown;
  /** Empty unless `kind` is `choice`. */
  readonly choices: readonly Choice[];
  /** Inclusive bounds: of numbers, of a duration in milliseconds, or of the length of text. */
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly channelTypes: OptionTraits['channelTypes'];
  readonly suggest: Suggest | undefined;
}

/** Types that receive the member's text unchanged: the schema checks it. */
const TEXT_TYPES: ReadonlySet<string> = new Set([
  'string',
  'template_literal',
  'union',
  'any',
  'unknown',
  'custom',
  'date',
]);

/**
 * Reads an option's schema.
 * @returns the description, or `undefined` when no text can become such a value (an object, an array …)
 */
export function describeOption(name: string, schema: z.ZodType): OptionSpec | undefined {
  const unwrapped = unwrap(schema);
  const choices = unwrapped.traits.kind === undefined ? choicesOf(unwrapped.inner) : [];
  const kind = choices.length > 0 ? 'choice' : kindOf(unwrapped);
  if (kind === undefined) return undefined;
  let known: Bounds | undefined;
  // Read on first use: a start with unchanged slash commands needs no bounds.
  const bounds = () => (known ??= boundsOf(unwrapped.inner));
  return {
    name,
    description: unwrapped.description ?? name.replaceAll(/[-_]/g, ' '),
    kind,
    required: !unwrapped.optional && !unwrapped.nullable,
    schema,
    absent: unwrapped.nullable && !unwrapped.optional ? null : undefined,
    default: unwrapped.default,
    choices,
    get min() {
      return bounds().min;
    },
    get max() {
      return bounds().max;
    },
    channelTypes: unwrapped.traits.channelTypes,
    suggest: unwrapped.traits.suggest,
  };
}

function kindOf({ inner, traits }: Unwrapped): OptionKind | undefined {
  if (traits.kind !== undefined) return traits.kind;
  if (inner instanceof z.core.$ZodNumber) return isInteger(inner) ? 'integer' : 'number';
  if (inner instanceof z.core.$ZodBoolean) return 'boolean';
  return TEXT_TYPES.has(inner._zod.def.type) ? 'text' : undefined;
}

/** `z.int()` has the format itself, `z.number().int()` as a check. */
function isInteger({ _zod: { def } }: z.core.$ZodNumber): boolean {
  const parts = [def, ...(def.checks ?? []).map((check) => check._zod.def)];
  return parts.some((part) => 'format' in part && /int/.test(String(part.format)));
}

/** A schema without its wrappers, and the properties that the wrappers add. */
interface Unwrapped {
  /** The schema that receives what the member typed. */
  readonly inner: z.core.$ZodType;
  readonly optional: boolean;
  readonly nullable: boolean;
  readonly default: unknown;
  readonly description: string | undefined;
  readonly traits: OptionTraits;
}

/** Removes `optional`, `default`, `nullable`, `catch`, `readonly`, `lazy`, pipes, transforms and preprocessing. */
function unwrap(schema: z.core.$ZodType): Unwrapped {
  const layers: z.core.$ZodType[] = [schema];
  let next: z.core.$ZodType | undefined = schema;
  while (next !== undefined) {
    next = innerOf(next);
    if (next !== undefined) layers.push(next);
  }
  return {
    inner: layers.at(-1) ?? schema,
    optional: layers.some(isOptional),
    nullable: layers.some((layer) => layer instanceof z.core.$ZodNullable),
    default: layers.map(defaultOf).find((value) => value !== undefined),
    description: layers.map(descriptionOf).find((text) => text !== undefined),
    // The outermost has priority: `option.user().describe(…)` and a trait registered on a wrapper are both found.
    traits: Object.assign({}, ...layers.map((layer) => optionTraits.get(layer) ?? {}).reverse()),
  };
}

function innerOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (schema instanceof z.core.$ZodPipe) {
    const { in: input, out } = schema._zod.def;
    return input instanceof z.core.$ZodTransform ? out : input;
  }
  if (schema instanceof z.core.$ZodLazy) return schema._zod.def.getter();
  if (
    schema instanceof z.core.$ZodOptional ||
    schema instanceof z.core.$ZodNonOptional ||
    schema instanceof z.core.$ZodNullable ||
    schema instanceof z.core.$ZodDefault ||
    schema instanceof z.core.$ZodPrefault ||
    schema instanceof z.core.$ZodCatch ||
    schema instanceof z.core.$ZodReadonly
  ) {
    return schema._zod.def.innerType;
  }
  return undefined;
}

function isOptional(schema: z.core.$ZodType): boolean {
  return (
    schema instanceof z.core.$ZodOptional ||
    schema instanceof z.core.$ZodDefault ||
    schema instanceof z.core.$ZodPrefault ||
    schema instanceof z.core.$ZodCatch
  );
}

function defaultOf(schema: z.core.$ZodType): unknown {
  return schema instanceof z.core.$ZodDefault || schema instanceof z.core.$ZodPrefault
    ? schema._zod.def.defaultValue
    : undefined;
}

function descriptionOf(schema: z.core.$ZodType): string | undefined {
  return z.globalRegistry.get(schema)?.description;
}

/** The closed list of values of an enum, a literal or a union of literals; empty for any other schema. */
function choicesOf(schema: z.core.$ZodType): readonly Choice[] {
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
function boundsOf(schema: z.core.$ZodType): Bounds {
  if (!(schema instanceof z.core.$ZodNumber || schema instanceof z.core.$ZodString)) {
    return { min: undefined, max: undefined };
  }
  const { checks = [] } = schema._zod.def;
  // Most options are plain text, and converting a schema takes longer than everything else here.
  if (schema instanceof z.core.$ZodString && checks.length === 0) return { min: undefined, max: undefined };
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

/** zod limits every integer to the safe range of a double; that limit is not shown. */
function safe(bound: number | undefined): number | undefined {
  return bound === undefined || Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? undefined : bound;
}

/** The maximum length, in characters, with which choices are listed in the usage. */
const SPELT_OUT = 40;

/** `<required>`, `[optional=default]`, `<a|b|c>`. */
export function usageOf(spec: OptionSpec): string {
  const shown = fallback(spec);
  const body = `${label(spec)}${shown === undefined ? '' : `=${shown}`}`;
  return spec.required ? `<${body}>` : `[${body}]`;
}

/** The usage of all options, in the order in which they are typed. */
export function usageLine(specs: readonly OptionSpec[]): string {
  return specs.map(usageOf).join(' ');
}

/** The default as a member would type it; `undefined` when it cannot be typed. */
export function fallback(spec: OptionSpec): string | undefined {
  const { default: value, kind } = spec;
  if (kind === 'duration' && typeof value === 'number') return formatDuration(value);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  return undefined;
}

function label({ name, choices }: OptionSpec): string {
  const all = choices.map((choice) => choice.label).join('|');
  return choices.length > 0 && all.length <= SPELT_OUT ? all : name;
}

const plainType = (kind: OptionKind): string =>
  ({
    text: t('text'),
    rest: t('text to the end of the message'),
    integer: t('whole number'),
    number: t('number'),
    boolean: t('yes or no'),
    choice: t('choice'),
    duration: t('duration such as 1h30m'),
    user: t('user'),
    member: t('member'),
    role: t('role'),
    channel: t('channel'),
    attachment: t('attachment'),
  })[kind];

/** An option's type in words: "whole number from 2 to 100", "one of plain, cyberpunk". */
export function typeText(spec: OptionSpec): string {
  if (spec.kind === 'choice')
    return t('one of {choices}', { choices: spec.choices.map((choice) => choice.label).join(', ') });
  const plain = plainType(spec.kind);
  if (spec.kind === 'integer' || spec.kind === 'number') return inRange(plain, spec, String);
  if (spec.kind === 'duration') return inRange(plain, { ...spec, min: spec.min || undefined }, formatDuration);
  return plain;
}

function inRange(type: string, { min, max }: Pick<OptionSpec, 'min' | 'max'>, show: (bound: number) => string): string {
  if (min !== undefined && max !== undefined) {
    return t('{type} from {min} to {max}', { type, min: show(min), max: show(max) });
  }
  if (min !== undefined) return t('{type} of at least {min}', { type, min: show(min) });
  return max === undefined ? type : t('{type} of at most {max}', { type, max: show(max) });
}

/**
 * An error map of zod with sentences about issues. A sentence by the plugin's author takes precedence, as zod prefers it to an error map.
 * @example schema.safeParse(1, { error: wordsFor(spec, '1') }) // "`sides` must be at least 2; you gave `1`."
 */
export function wordsFor(spec: OptionSpec, typed: string): (issue: z.core.$ZodRawIssue) => string {
  return (issue) =>
    t('`{name}` {clause}; you gave {typed}.', { name: spec.name, clause: clause(spec, issue), typed: echo(typed) });
}

/** A sentence that names the option, also when the words are the author's. */
export function asSentence(spec: OptionSpec, words: string): string {
  const stop = /[.!?]$/.test(words) ? '' : '.';
  return words.startsWith(`\`${spec.name}\``) ? `${words}${stop}` : `\`${spec.name}\`: ${words}${stop}`;
}

function clause(spec: OptionSpec, issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'too_small':
      return bound(spec, issue.origin, issue.minimum, issue.exact === true ? 'exactly' : least(issue));
    case 'too_big':
      return bound(spec, issue.origin, issue.maximum, issue.exact === true ? 'exactly' : most(issue));
    case 'not_multiple_of':
      return t('must be a multiple of {divisor}', { divisor: String(issue.divisor) });
    case 'invalid_format':
      return t('must be {what}', { what: formatName(issue) });
    case 'invalid_type':
      return t('must be {what}', {
        what: issue.expected === 'int' ? t('a whole number') : withArticle(issue.expected),
      });
    case 'invalid_value':
      return t('must be one of {values}', { values: issue.values.map((value) => echo(String(value))).join(', ') });
    default:
      return t('is not right');
  }
}

type Comparison = 'exactly' | 'more' | 'least' | 'less' | 'most';

const least = ({ inclusive }: { readonly inclusive?: boolean }): Comparison => (inclusive === false ? 'more' : 'least');
const most = ({ inclusive }: { readonly inclusive?: boolean }): Comparison => (inclusive === false ? 'less' : 'most');

function bound(spec: OptionSpec, origin: string, bound: number | bigint, how: Comparison): string {
  const value = spec.kind === 'duration' && origin !== 'string' ? formatDuration(Number(bound)) : String(bound);
  return origin === 'string'
    ? t(
        'must have {how, select, exactly {exactly} more {more than} least {at least} less {less than} other {at most}} {value} {count, plural, one {character} other {characters}}',
        { how, value, count: Number(bound) },
      )
    : t(
        'must be {how, select, exactly {exactly} more {more than} least {at least} less {less than} other {at most}} {value}',
        { how, value },
      );
}

const formats = (): Readonly<Record<string, string>> => ({
  email: t('an email address'),
  url: t('a link'),
  datetime: t('a date and time such as 2026-01-31T18:00:00Z'),
  date: t('a date such as 2026-01-31'),
  time: t('a time such as 18:00:00'),
  uuid: t('a UUID'),
  emoji: t('an emoji'),
  ipv4: t('an IPv4 address'),
  ipv6: t('an IPv6 address'),
});

function formatName(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidStringFormat>): string {
  if (issue.format === 'starts_with' && 'prefix' in issue) {
    return t('text that starts with {text}', { text: echo(String(issue.prefix)) });
  }
  if (issue.format === 'ends_with' && 'suffix' in issue) {
    return t('text that ends with {text}', { text: echo(String(issue.suffix)) });
  }
  if (issue.format === 'includes' && 'includes' in issue) {
    return t('text with {text} in it', { text: echo(String(issue.includes)) });
  }
  return formats()[issue.format] ?? t('in the form that is asked for');
}

function withArticle(type: string): string {
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}
