/**
 * Options of an `LRUCache` for so many entries. Its own `max` reserves the memory for all of them at once: 2.4 MB for 100,000, before the first.
 * @see https://github.com/isaacs/node-lru-cache#maxsize
 */
export const maxEntries = (entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
});
