import { type OptionTraits, optionTraits, type Suggest, z } from '@cinnabar/sdk';
import { boundsOf, choicesOf } from './convert.js';

export type OptionKind = 'text' | 'integer' | 'number' | 'boolean' | 'choice' | NonNullable<OptionTraits['kind']>;

export interface Choice {
  /** What members type and see. */
  readonly label: string;
  readonly value: unknown;
}

/** One option of a command, as the parser, the slash menu and the help need it. Derived from its schema alone. */
export interface OptionSpec {
  readonly name: string;
  readonly description: string;
  readonly kind: OptionKind;
  readonly required: boolean;
  readonly schema: z.ZodType;
  /** What the schema is given when the member leaves the option out. */
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

/** Types that are given the member's text as it is: the schema judges it. */
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
  return {
    name,
    description: unwrapped.description ?? name.replaceAll(/[-_]/g, ' '),
    kind,
    required: !unwrapped.optional && !unwrapped.nullable,
    schema,
    absent: unwrapped.nullable && !unwrapped.optional ? null : undefined,
    default: unwrapped.default,
    choices,
    ...boundsOf(unwrapped.inner),
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

function isInteger(schema: z.core.$ZodNumber): boolean {
  return z.toJSONSchema(schema).type === 'integer';
}

/** A schema without its wrappers, and what the wrappers said. */
interface Unwrapped {
  /** The schema that receives what the member typed. */
  readonly inner: z.core.$ZodType;
  readonly optional: boolean;
  readonly nullable: boolean;
  readonly default: unknown;
  readonly description: string | undefined;
  readonly traits: OptionTraits;
}

/** Looks through `optional`, `default`, `nullable`, `catch`, `readonly`, `lazy`, pipes, transforms and preprocessing. */
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
    // The outermost says more: `option.user().describe(…)` and a trait registered on a wrapper both count.
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
