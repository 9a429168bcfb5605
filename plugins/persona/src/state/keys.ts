import type { Collection } from '@cinnabar/sdk';

/** The keys of all documents of a collection. */
export async function keysOf<T>(collection: Collection<T, 'channel'>): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const [key] of collection.entries()) keys.push(key);
  return keys;
}
