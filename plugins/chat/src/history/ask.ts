/** Asks Discord something, repeated as long as that helps. */
export type Ask = <T>(task: () => Promise<T>) => Promise<T>;
