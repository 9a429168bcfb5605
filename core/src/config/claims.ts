import { type ConfigLayer, z } from '@cinnabar/sdk';
import { nearest } from '../storage/nearest.js';

/** Who reads which top-level keys; a key may have several readers. */
export interface Claims {
  /** Returns how to take the claim back; more than once does no harm. */
  claim(keys: readonly string[]): () => void;
  /** Claims the keys of a schema, whose values are checked at a start. */
  declare(schema: z.ZodObject): () => void;
  /** A sentence for each value of the layer that does not fit what was declared, with file, line and key. */
  mistakes(layer: ConfigLayer): readonly string[];
  /** A sentence for each key of the layer that nobody claims, and that was not told before. */
  unclaimed(layer: ConfigLayer): readonly string[];
}

export function createClaims(): Claims {
  const claims = new Set<readonly string[]>();
  const schemas = new Set<z.ZodObject>();
  const told = new Set<string>();
  const claim = (keys: readonly string[]) => {
    const own = [...keys];
    claims.add(own);
    return () => void claims.delete(own);
  };
  return {
    claim,
    declare(schema) {
      const release = claim(Object.keys(schema.shape));
      schemas.add(schema);
      return () => {
        release();
        schemas.delete(schema);
      };
    },
    mistakes: (layer) => [...new Set([...schemas].flatMap((schema) => mistakesBy(schema, layer)))],
    unclaimed({ source, values, lineOf }) {
      const known = [...new Set([...claims].flat())];
      const fresh = Object.keys(values).filter((key) => !known.includes(key) && !told.has(`${source} ${key}`));
      for (const key of fresh) told.add(`${source} ${key}`);
      return fresh.map((key) => {
        const meant = nearest(withoutUnderscores(key), known);
        const hint = meant === undefined ? 'Is its plugin loaded?' : `Did you mean "${meant}"?`;
        return `${source}:${lineOf([key])}: no plugin reads the key "${key}". ${hint}`;
      });
    },
  };
}

function mistakesBy(schema: z.ZodObject, { source, values, lineOf }: ConfigLayer): readonly string[] {
  return Object.entries(schema.shape).flatMap(([key, field]) => {
    const value = withoutEmpty(values[key]);
    if (value === undefined) return [];
    const [issue] = z.safeParse(field, value).error?.issues ?? [];
    if (issue === undefined) return [];
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    const path = [key, ...issue.path, ...unknown].map((part) => (typeof part === 'number' ? part : String(part)));
    return [`${source}:${lineOf(path)}: ${path.join('.')}: ${issue.message}`];
  });
}

/** An empty key, at any depth, takes back what wider files say. */
function withoutEmpty(value: unknown): unknown {
  if (value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, withoutEmpty(inner)]])),
  );
}

/** Other bots of this family write `recency_window`. */
function withoutUnderscores(key: string): string {
  return key.replaceAll('_', '');
}
