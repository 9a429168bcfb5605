import type { LocalEvent } from './events.js';

export interface Observers {
  notify(event: LocalEvent): void;
  /** Calls the function for every event from now on; returns how to stop it. */
  observe(listener: (event: LocalEvent) => void): () => void;
}

export function createObservers(): Observers {
  const listeners = new Set<(event: LocalEvent) => void>();
  return {
    notify: (event) => {
      for (const listener of listeners) listener(event);
    },
    observe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
