/** Runs tasks of one key one after another, in the order in which they came. A task that fails does not stop the next. */
export function createInTurn() {
  const last = new Map<string, Promise<unknown>>();
  return async function run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const mine = (last.get(key) ?? Promise.resolve()).then(task, task);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}
export type InTurn = ReturnType<typeof createInTurn>;
