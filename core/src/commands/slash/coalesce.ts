import PQueue from 'p-queue';

/**
 * Runs `work` for one key at a time, a few keys at once. Calls for a key that has not begun share one run; a call during a run gets one more
 * run after it, which sees what changed meanwhile.
 * @param work must not reject
 */
export function coalesced<K>(work: (key: K) => Promise<void>, concurrency: number): (key: K) => Promise<void> {
  const queue = new PQueue({ concurrency });
  const waiting = new Map<K, Promise<void>>();
  const running = new Map<K, Promise<void>>();

  const enqueue = async (key: K) => {
    await running.get(key);
    await queue.add(async () => {
      waiting.delete(key);
      const run = work(key);
      running.set(key, run);
      await run;
      running.delete(key);
    });
  };

  return (key) => {
    const run = waiting.get(key) ?? enqueue(key);
    waiting.set(key, run);
    return run;
  };
}
