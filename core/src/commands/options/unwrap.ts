import { type OptionTraits, optionTraits, z } from '@cinnabar/sdk';

const { core } = z;

/** A schema without its wrappers, and what the wrappers said. */
export interface Unwrapped {
  /** The schema that receives what the member typed. */
  readonly inner: z.core.$ZodType;
  readonly optional: boolean;
  readonly nullable: boolean;
  readonly default: unknown;
  readonly description: string | undefined;
  readonly traits: OptionTraits;
}

/** Looks through `optional`, `default`, `nullable`, `catch`, `readonly`, `lazy`, pipes, transforms and preprocessing. */
export function unwrap(schema: z.core.$ZodType): Unwrapped {
  const layers: z.core.$ZodType[] = [schema];
  let next: z.core.$ZodType | undefined = schema;
  while (next !== undefined) {
    next = innerOf(next);
    if (next !== undefined) layers.push(next);
  }
  return {
    inner: layers.at(-1) ?? schema,
    optional: layers.some(isOptional),
    nullable: layers.some((layer) => layer instanceof core.$ZodNullable),
    default: layers.map(defaultOf).find((value) => value !== undefined),
    description: layers.map(descriptionOf).find((text) => text !== undefined),
    // The outermost says more: `option.user().describe(…)` and a trait registered on a wrapper both count.
    traits: Object.assign({}, ...layers.map((layer) => optionTraits.get(layer) ?? {}).reverse()),
  };
}

function innerOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (schema instanceof core.$ZodPipe) {
    const { in: input, out } = schema._zod.def;
    return input instanceof core.$ZodTransform ? out : input;
  }
  if (schema instanceof core.$ZodLazy) return schema._zod.def.getter();
  if (
    schema instanceof core.$ZodOptional ||
    schema instanceof core.$ZodNonOptional ||
    schema instanceof core.$ZodNullable ||
    schema instanceof core.$ZodDefault ||
    schema instanceof core.$ZodPrefault ||
    schema instanceof core.$ZodCatch ||
    schema instanceof core.$ZodReadonly
  ) {
    return schema._zod.def.innerType;
  }
  return undefined;
}

function isOptional(schema: z.core.$ZodType): boolean {
  return (
    schema instanceof core.$ZodOptional ||
    schema instanceof core.$ZodDefault ||
    schema instanceof core.$ZodPrefault ||
    schema instanceof core.$ZodCatch
  );
}

function defaultOf(schema: z.core.$ZodType): unknown {
  return schema instanceof core.$ZodDefault || schema instanceof core.$ZodPrefault
    ? schema._zod.def.defaultValue
    : undefined;
}

function descriptionOf(schema: z.core.$ZodType): string | undefined {
  return z.globalRegistry.get(schema)?.description;
}
