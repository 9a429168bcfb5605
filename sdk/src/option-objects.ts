/** The properties whose value is not `undefined`: `edit(defined({ name, topic }))` changes only what was given. */
export function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const key in values) {
    const value = values[key];
    if (isDefined(value)) kept[key] = value;
  }
  return kept;
}

function isDefined<V>(value: V): value is Exclude<V, undefined> {
  return value !== undefined;
}

/**
 * Options of an `LRUCache` for this many entries. Its own `max` allocates the memory for all of them at once: 2.4 MB for 100,000.
 * @see https://github.com/isaacs/node-lru-cache#maxsize
 */
export const maxEntries = (entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
});
