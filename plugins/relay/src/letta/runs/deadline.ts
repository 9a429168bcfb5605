import { setMaxListeners } from 'node:events';
import type { Clock } from '@cinnabar/sdk';
import { SWITCHED_OFF } from '../../types.js';

/** How long an agent may work. */
export interface Deadline {
  /** Aborts when the time is over, or whoever wants the answer has gone. */
  readonly signal: AbortSignal;
  /** Why it has aborted: `withdrawn` when the agent may not act any more. */
  readonly reason: 'timeout' | 'stopped' | 'withdrawn' | undefined;
  /** The time does not count while `wait` is under way. */
  outside<T>(wait: () => Promise<T>): Promise<T>;
  end(): void;
}

export function createDeadline(clock: Clock, limitMs: number, outer: AbortSignal): Deadline {
  const controller = new AbortController();
  // Letta's client adds a listener for each request, and takes none of them back.
  setMaxListeners(0, controller.signal);
  let reason: Deadline['reason'];
  let leftMs = limitMs;
  let since = clock.now();
  const abort = (why: 'timeout' | 'stopped' | 'withdrawn') => {
    reason ??= why;
    controller.abort();
  };
  const stopped = () => abort(outer.reason === SWITCHED_OFF ? 'withdrawn' : 'stopped');
  let cancel = clock.after(leftMs, () => abort('timeout'));
  outer.addEventListener('abort', stopped);
  if (outer.aborted) stopped();
  return {
    signal: controller.signal,
    get reason() {
      return reason;
    },
    async outside(wait) {
      cancel();
      leftMs -= clock.now() - since;
      try {
        return await wait();
      } finally {
        since = clock.now();
        cancel = clock.after(Math.max(0, leftMs), () => abort('timeout'));
      }
    },
    end() {
      cancel();
      outer.removeEventListener('abort', stopped);
    },
  };
}
