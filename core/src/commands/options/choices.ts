import { z } from '@cinnabar/sdk';
import type { Choice } from './spec.js';

const { core } = z;

/** The closed list of values of an enum, a literal or a union of literals; empty for any other schema. */
export function choicesOf(schema: z.core.$ZodType): readonly Choice[] {
  if (schema instanceof core.$ZodEnum || schema instanceof core.$ZodLiteral) {
    return [...schema._zod.values].map((value) => ({ label: String(value), value }));
  }
  if (schema instanceof core.$ZodUnion) {
    const parts = schema._zod.def.options.map(choicesOf);
    return parts.every((part) => part.length > 0) ? parts.flat() : [];
  }
  return [];
}
