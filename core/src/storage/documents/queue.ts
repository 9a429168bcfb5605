import { AsyncLocalStorage } from 'node:async_hooks';

/** Runs tasks of one key one after another, in the order in which they were asked for; those of different keys side by side. */
export interface KeyedQueue {
  run<T>(key: string, task: () => Promise<T>): Promise<T>;
  /** Whether the caller is inside a task of this key: waiting for another one there would never end. */
  holds(key: string): boolean;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

interface Turn {
  readonly key: string;
  readonly outer: Turn | undefined;
  over: boolean;
}

export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<void>>();
  const turns = new AsyncLocalStorage<Turn>();

  const holds = (key: string): boolean => {
    for (let turn = turns.getStore(); turn !== undefined; turn = turn.outer) {
      if (turn.key === key && !turn.over) return true;
    }
    return false;
  };

  return {
    holds,
    run(key, task) {
      const turn: Turn = { key, outer: turns.getStore(), over: false };
      const result = (tails.get(key) ?? Promise.resolve()).then(() => turns.run(turn, task));
      const done = () => {
        turn.over = true;
        if (tails.get(key) === tail) tails.delete(key);
        // While it is in use, Node 20 tracks every promise and callback of the process: nobody pays for that between two changes.
        if (tails.size === 0) turns.disable();
      };
      const tail = result.then(done, done);
      tails.set(key, tail);
      return result;
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
  };
}
