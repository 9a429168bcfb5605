/** Responses that hang. */
export interface Held {
  /**
   * Resolves with `true` on release, with `false` when the client disconnects.
   * @param watch observes the client, calls back when it disconnects, and returns a function that stops it
   */
  hold(watch: (gone: () => void) => () => void): Promise<boolean>;
  /** Resolves as soon as a response hangs. */
  hanging(): Promise<void>;
  release(): void;
}

export function createHeld(): Held {
  const held = new Set<() => void>();
  let waiting: (() => void)[] = [];
  return {
    hold: (watch) =>
      new Promise((resolve) => {
        const end = (released: boolean) => {
          held.delete(go);
          unwatch();
          resolve(released);
        };
        const go = () => end(true);
        const unwatch = watch(() => end(false));
        held.add(go);
        for (const tell of waiting) tell();
        waiting = [];
      }),
    hanging: () => (held.size > 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    release() {
      for (const go of [...held]) go();
    },
  };
}
