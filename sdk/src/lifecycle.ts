/** Takes a registration back. Safe to call more than once; resolves when nothing of it is left. */
export type Disposer = () => Promise<void>;

/** A cleanup that a plugin hands to `defer`. */
export type Cleanup = () => unknown;
