import { z } from '@cinnabar/sdk';

const { core } = z;

export interface Bounds {
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** Inclusive bounds of a number, or of the length of text. Exclusive bounds of fractions are left to the schema. */
export function boundsOf(schema: z.core.$ZodType): Bounds {
  if (!(schema instanceof core.$ZodNumber || schema instanceof core.$ZodString)) {
    return { min: undefined, max: undefined };
  }
  const json = z.toJSONSchema(schema, { unrepresentable: 'any' });
  if (schema instanceof core.$ZodString) return { min: json.minLength, max: json.maxLength };
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
