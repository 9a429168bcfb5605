/** Tasks with the same key run one after another, in the order of the calls; keys do not wait for one another. */
export interface KeyedMutex {
  /** A task that fails does not stop the next one. */
  run<T>(key: string, task: () => Promise<T>): Promise<T>;
  /**
   * Resolves with `undefined` at once when `signal` aborts before the task has begun: then it never runs, and the tasks behind it still wait
   * for those ahead. Once it has begun, the signal is the task's own business.
   */
  run<T>(key: string, task: () => Promise<T>, signal: AbortSignal): Promise<T | undefined>;
  /** Resolves when no task is running or waiting. */
  idle(): Promise<void>;
}

export function createKeyedMutex(): KeyedMutex {
  const tails = new Map<string, Promise<unknown>>();

  function run<T>(key: string, task: () => Promise<T>): Promise<T>;
  function run<T>(key: string, task: () => Promise<T>, signal: AbortSignal): Promise<T | undefined>;
  function run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    const before = tails.get(key);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve(undefined);
      };
      const begin = async () => {
        signal?.removeEventListener('abort', giveUp);
        return signal?.aborted === true ? undefined : task();
      };
      signal?.addEventListener('abort', giveUp);
      const mine = before === undefined ? begin() : before.then(begin, begin);
      tails.set(key, mine);
      const end = () => {
        if (tails.get(key) === mine) tails.delete(key);
      };
      mine.then(end, end);
      mine.then(resolve, reject);
      if (signal?.aborted === true) giveUp();
    });
  }

  return {
    run,
    async idle() {
      while (tails.size > 0) await Promise.allSettled(tails.values());
    },
  };
}
