import { z } from '@cinnabar/sdk';
import { boundsOf } from './bounds.js';
import { choicesOf } from './choices.js';
import type { OptionKind, OptionSpec } from './spec.js';
import { type Unwrapped, unwrap } from './unwrap.js';

const { core } = z;

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
  if (inner instanceof core.$ZodNumber) return isInteger(inner) ? 'integer' : 'number';
  if (inner instanceof core.$ZodBoolean) return 'boolean';
  return TEXT_TYPES.has(inner._zod.def.type) ? 'text' : undefined;
}

function isInteger(schema: z.core.$ZodNumber): boolean {
  return z.toJSONSchema(schema).type === 'integer';
}
