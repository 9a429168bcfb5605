import type { ServerResponse } from 'node:http';

/** Answers that hang. */
export interface Held {
  /** Resolves `true` on release, `false` when the client has gone. */
  hold(response: ServerResponse): Promise<boolean>;
  /** Resolves as soon as an answer hangs. */
  hanging(): Promise<void>;
  release(): void;
}

export function createHeld(): Held {
  const held = new Set<() => void>();
  let waiting: (() => void)[] = [];
  return {
    hold: (response) =>
      new Promise((resolve) => {
        const go = () => {
          held.delete(go);
          response.off('close', gone);
          resolve(true);
        };
        const gone = () => {
          held.delete(go);
          resolve(false);
        };
        held.add(go);
        response.once('close', gone);
        for (const tell of waiting) tell();
        waiting = [];
      }),
    hanging: () => (held.size > 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    release() {
      for (const go of [...held]) go();
    },
  };
}
