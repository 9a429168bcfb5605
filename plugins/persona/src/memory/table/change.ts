import type { Memory } from '../types.js';

/** What happens to a table at once: all of it is on the disk, or nothing. Deletions come first. */
export interface Change {
  readonly drop?: readonly string[] | undefined;
  /** New memories, and new versions of known ones. */
  readonly put?: readonly Memory[] | undefined;
  /** What has been reflected on; `all`: all there is. */
  readonly reflected?: readonly string[] | 'all' | undefined;
  /** When memories were recalled. */
  readonly seen?: readonly (readonly [id: string, at: number])[] | undefined;
  /** Embeddings, each component from -127 to 127, in base64. */
  readonly vectors?: readonly (readonly [id: string, vector: string])[] | undefined;
}

export const isEmpty = ({ drop = [], put = [], reflected = [], seen = [], vectors = [] }: Change): boolean =>
  [drop, put, reflected, seen, vectors].every(({ length }) => length === 0);
