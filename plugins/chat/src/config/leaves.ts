import { z } from '@cinnabar/sdk';
import { type KeyTraits, keyTraits } from './keys/key.js';
import { botConfigSchema } from './schema.js';

/** One key of the configuration. */
export interface Leaf extends KeyTraits {
  readonly path: string;
  readonly schema: z.core.$ZodType;
  /** What holds when nobody says anything. */
  readonly fallback: unknown;
}

/** Every value by its path. */
export const LEAVES: ReadonlyMap<string, Leaf> = new Map(
  Object.entries(botConfigSchema.shape).map(([path, schema]) => [path, leafOf(path, schema)]),
);

function leafOf(path: string, schema: z.core.$ZodType): Leaf {
  const traits = keyTraits.get(schema);
  if (traits === undefined) throw new TypeError(`the key ${path} is declared without \`key(…)\``);
  return { ...traits, path, schema: withoutDefault(schema), fallback: z.safeParse(schema, undefined).data };
}

/** A key as somebody who sets it writes it: present. */
function withoutDefault(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodOptional ? withoutDefault(schema.unwrap()) : schema;
}
