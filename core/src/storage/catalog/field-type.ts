import type { z } from '@cinnabar/sdk';

/** The JSON Schema of one setting, with what `.meta()` added. */
export type FieldSchema = z.core.JSONSchema.BaseSchema;

/** Discord things that a setting of text may name, by `.meta({ kind: 'channel' })`. */
export const MENTIONS = ['channel', 'user', 'member', 'role'] as const;
export type Mention = (typeof MENTIONS)[number];

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** What a setting takes, as far as text can give it. */
export type FieldType =
  | { readonly kind: 'boolean' | 'nothing' | 'object' | 'anything' }
  | ({ readonly kind: 'number'; readonly whole: boolean; readonly above?: number; readonly below?: number } & Bounds)
  | ({ readonly kind: 'duration' } & Bounds)
  | ({ readonly kind: 'text'; readonly format?: string } & Bounds)
  | { readonly kind: 'mention'; readonly of: Mention }
  | { readonly kind: 'choice'; readonly values: readonly unknown[] }
  | ({ readonly kind: 'list'; readonly of: FieldType } & Bounds)
  | { readonly kind: 'either'; readonly of: readonly FieldType[] };

/** Made from JSON Schema, so that it does not matter which copy of zod a plugin brings. */
export function fieldTypeOf(schema: FieldSchema): FieldType {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return either(alternatives.filter((one) => typeof one === 'object').map(fieldTypeOf));
  if (schema.const !== undefined) return { kind: 'choice', values: [schema.const] };
  if (schema.enum !== undefined) return { kind: 'choice', values: schema.enum };
  if (Array.isArray(schema.type)) return either(schema.type.map((type) => fieldTypeOf({ ...schema, type })));
  switch (schema.type) {
    case 'boolean':
      return { kind: 'boolean' };
    case 'null':
      return { kind: 'nothing' };
    case 'integer':
    case 'number':
      return numberType(schema);
    case 'string':
      return textType(schema);
    case 'array':
      return {
        kind: 'list',
        of:
          typeof schema.items === 'object' && !Array.isArray(schema.items)
            ? fieldTypeOf(schema.items)
            : { kind: 'anything' },
        ...bounds(schema.minItems, schema.maxItems),
      };
    case 'object':
      return { kind: 'object' };
    default:
      return { kind: 'anything' };
  }
}

function either(of: readonly FieldType[]): FieldType {
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { kind: 'either', of };
}

function bounds(min: number | undefined, max: number | undefined): Bounds {
  const bounded = (limit: number | undefined): limit is number =>
    limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER;
  return { ...(bounded(min) ? { min } : {}), ...(bounded(max) ? { max } : {}) };
}

function numberType(schema: FieldSchema): FieldType {
  const within = bounds(schema.minimum, schema.maximum);
  if (schema.kind === 'duration') return { kind: 'duration', ...within };
  const { exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  return {
    kind: 'number',
    whole: schema.type === 'integer',
    ...within,
    ...(typeof above === 'number' ? { above } : {}),
    ...(typeof below === 'number' ? { below } : {}),
  };
}

function textType(schema: FieldSchema): FieldType {
  const of = MENTIONS.find((mention) => mention === schema.kind);
  if (of !== undefined) return { kind: 'mention', of };
  const { format } = schema;
  return { kind: 'text', ...bounds(schema.minLength, schema.maxLength), ...(format === undefined ? {} : { format }) };
}
