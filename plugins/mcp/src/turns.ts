/** Runs tasks of one key one after another, in the order in which they came; keys do not wait for one another. */
export function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return {
    async run<T>(key: string, task: () => Promise<T>): Promise<T> {
      const before = last.get(key);
      const mine = before === undefined ? task() : before.then(task, task);
      last.set(key, mine);
      try {
        return await mine;
      } finally {
        if (last.get(key) === mine) last.delete(key);
      }
    },
    /** Resolves when nothing is under way. */
    async idle(): Promise<void> {
      while (last.size > 0) await Promise.allSettled(last.values());
    },
  };
}
export type Turns = ReturnType<typeof createTurns>;
