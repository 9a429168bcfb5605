/** Work by key: what has the same key is done one after another, in the order in which it came; keys do not wait for one another. */
export interface Sequences {
  /** A task that fails does not stop the next. */
  run<T>(key: string, task: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

export function createSequences(): Sequences {
  const last = new Map<string, Promise<unknown>>();
  return {
    async run(key, task) {
      const before = last.get(key);
      const mine = before === undefined ? task() : before.then(task, task);
      last.set(key, mine);
      try {
        return await mine;
      } finally {
        if (last.get(key) === mine) last.delete(key);
      }
    },
    async idle() {
      while (last.size > 0) await Promise.allSettled(last.values());
    },
  };
}
