/** Lets only one thing happen to an agent at a time: a server does not promise anything for two messages at once. */
export interface Lanes {
  /** @returns `undefined` when the signal has aborted before it was their turn */
  run<T>(agentId: string, signal: AbortSignal, task: () => Promise<T>): Promise<T | undefined>;
}

export function createLanes(): Lanes {
  const tails = new Map<string, Promise<void>>();
  return {
    async run(agentId, signal, task) {
      const before = tails.get(agentId) ?? Promise.resolve();
      let done = (): void => undefined;
      const mine = new Promise<void>((resolve) => {
        done = resolve;
      });
      // Who gives up waiting lets the next one through, but not before those ahead have ended.
      const tail = before.then(() => mine);
      tails.set(agentId, tail);
      void tail.then(() => {
        if (tails.get(agentId) === tail) tails.delete(agentId);
      });
      try {
        return (await cameFirst(before, signal)) ? await task() : undefined;
      } finally {
        done();
      }
    },
  };
}

/** Whether it is their turn before the signal aborts. */
function cameFirst(before: Promise<void>, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const give = () => resolve(false);
    signal.addEventListener('abort', give);
    if (signal.aborted) give();
    void before.then(() => {
      signal.removeEventListener('abort', give);
      resolve(true);
    });
  });
}
