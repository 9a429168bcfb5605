import type { ConfigLayer } from '@cinnabar/sdk';
import { nearest } from '../storage/nearest.js';

/** Who reads which top-level keys; a key may have several readers. */
export interface Claims {
  /** Returns how to take the claim back; more than once does no harm. */
  claim(keys: readonly string[]): () => void;
  /** A sentence for each key of the layer that nobody claims, and that was not told before. */
  unclaimed(layer: ConfigLayer): readonly string[];
}

export function createClaims(): Claims {
  const claims = new Set<readonly string[]>();
  const told = new Set<string>();
  return {
    claim(keys) {
      const own = [...keys];
      claims.add(own);
      return () => void claims.delete(own);
    },
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

/** Other bots of this family write `recency_window`. */
function withoutUnderscores(key: string): string {
  return key.replaceAll('_', '');
}
