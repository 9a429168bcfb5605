import { z } from '@cinnabar/sdk';
import { type KeyTraits, keyTraits } from './keys/key.js';
import { botConfigSchema } from './schema.js';

/** One value of the configuration: a key, or a key inside a group such as `budgets.guild`. */
export interface Leaf extends KeyTraits {
  readonly path: string;
  readonly schema: z.core.$ZodType;
  /** What holds when nobody says anything. */
  readonly fallback: unknown;
}

/** Every value by its path. */
export const LEAVES: ReadonlyMap<string, Leaf> = new Map(
  leavesOf(botConfigSchema, '').map((leaf) => [leaf.path, leaf]),
);

/** Paths of what has keys inside: `budgets`, `budgets.guild`. */
export const GROUPS: ReadonlySet<string> = new Set(
  [...LEAVES.keys()].flatMap((path) => {
    const parts = path.split('.');
    return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'));
  }),
);

function leavesOf(group: z.ZodObject, prefix: string): readonly Leaf[] {
  return Object.entries(group.shape).flatMap(([name, schema]): readonly Leaf[] => {
    const path = `${prefix}${name}`;
    const inner = withoutDefault(schema);
    if (inner instanceof z.ZodObject) return leavesOf(inner, `${path}.`);
    const traits = keyTraits.get(schema);
    if (traits === undefined) throw new TypeError(`the key ${path} is declared without \`key(…)\``);
    return [{ ...traits, path, schema: inner, fallback: z.safeParse(schema, undefined).data }];
  });
}

/** A key as somebody who sets it writes it: present. */
function withoutDefault(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional
    ? withoutDefault(schema.unwrap())
    : schema;
}
