import { z } from '@cinnabar/sdk';

/** A default that its own schema refuses. */
export interface WrongDefault {
  /** `limits.daily` */
  readonly path: string;
  readonly value: unknown;
  /** In zod's words, with the bound: `Too big: expected number to be <=20`. */
  readonly reason: string;
}

/** zod takes defaults as they are: nothing else would notice one that lies outside of its own range. */
export function wrongDefaults(
  schema: z.core.$ZodType | undefined,
  path: readonly string[] = [],
): readonly WrongDefault[] {
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([key, field]) => wrongDefaults(field, [...path, key]));
  if (schema instanceof z.ZodDefault) {
    const { innerType, defaultValue } = schema.def;
    const [issue] = z.safeParse(innerType, defaultValue).error?.issues ?? [];
    if (issue === undefined) return wrongDefaults(innerType, path);
    return [{ path: [...path, ...issue.path.map(String)].join('.'), value: defaultValue, reason: issue.message }];
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodReadonly)
    return wrongDefaults(schema.def.innerType, path);
  return [];
}
