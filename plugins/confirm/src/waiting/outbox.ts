import type { Logger } from '@cinnabar/sdk';

/**
 * What a member still has to be shown of a call. Its record stays until the work is done, so that the next process finds what this one
 * could not show; until then it is tried again with every `flush`.
 */
export interface Outbox {
  /** Does the work now. Never rejects: work that fails is kept, and a later one for the same call takes its place. */
  put(callId: string, work: () => Promise<void>): Promise<void>;
  /** The same, but not before the next `flush`. */
  later(callId: string, work: () => Promise<void>): void;
  /** Tries once more what has failed, one after another. */
  flush(): Promise<void>;
}

/** Beyond this the oldest waits for the next start. */
const MOST_KEPT = 1_000;

export function createOutbox({ log, signal }: { readonly log: Logger; readonly signal: AbortSignal }): Outbox {
  const kept = new Map<string, () => Promise<void>>();
  const later: Outbox['later'] = (callId, work) => {
    kept.delete(callId);
    kept.set(callId, work);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  };
  const put: Outbox['put'] = async (callId, work) => {
    kept.delete(callId);
    try {
      await work();
    } catch (error) {
      log.warn('what became of a call could not be shown yet', { callId, error });
      later(callId, work);
    }
  };
  return {
    put,
    later,
    async flush() {
      for (const [callId, work] of [...kept]) {
        if (signal.aborted) return;
        if (kept.get(callId) === work) await put(callId, work);
      }
    },
  };
}
