import { type CollectionDefinition, z } from '@cinnabar/sdk';

/** The first field whose name matches; `[]` stands for the elements of a list or map: `grants[].guildId`. */
export function fieldNamed(schema: z.ZodObject, name: RegExp): string | undefined {
  return firstBelow(schema, '', name, new Set());
}

function firstBelow(schema: unknown, path: string, name: RegExp, seen: Set<unknown>): string | undefined {
  const at = inner(schema);
  if (seen.has(at)) return undefined;
  seen.add(at);
  const among = (parts: Iterable<readonly [string, unknown]>) => {
    for (const [place, part] of parts) {
      const found = firstBelow(part, place, name, seen);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  if (at instanceof z.ZodObject) {
    const fields = Object.entries(at.shape).map(([key, part]) => [path === '' ? key : `${path}.${key}`, part] as const);
    const named = fields.find(([place]) => name.test(place.split('.').at(-1) ?? ''));
    return named?.[0] ?? among(fields);
  }
  if (at instanceof z.ZodArray) return among([[`${path}[]`, at.element]]);
  if (at instanceof z.ZodRecord) return among([[`${path}[]`, at.valueType]]);
  if (at instanceof z.ZodUnion) return among(at.options.map((one) => [path, one] as const));
  return undefined;
}

/** A schema without its wrappers: defaults, `optional`, `nullable`, `readonly`. */
export function inner(schema: unknown): unknown {
  let at = schema;
  while (
    at instanceof z.ZodDefault ||
    at instanceof z.ZodOptional ||
    at instanceof z.ZodNullable ||
    at instanceof z.ZodReadonly
  )
    at = at.unwrap();
  return at;
}

/** Names of fields that contain ids of what is in a guild. */
const IN_GUILDS = /(?:guild|server|channel|thread|role|message)_?ids?$/i;

/**
 * A field that names something in a guild, in documents that do not say which guild they belong to: in a cluster all of them belong to the process of what is in
 * no guild. `undefined` where the scope, a `guildId` or `actor`, or `shared` says whose they are.
 */
export function fieldOfUnnamedGuild({ scope, schema, shared }: CollectionDefinition): string | undefined {
  if (shared !== undefined || (scope !== 'global' && scope !== 'user' && scope !== 'message')) return undefined;
  const actor = inner(schema.shape.actor);
  const named = actor instanceof z.ZodObject ? { ...actor.shape, ...schema.shape } : schema.shape;
  return 'guildId' in named ? undefined : fieldNamed(schema, IN_GUILDS);
}
