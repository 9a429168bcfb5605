import type { Logger, SettledCall, Tools } from '@cinnabar/sdk';

type Listener = Parameters<Tools['onSettled']>[0];

export interface SettledListeners {
  readonly onSettled: Tools['onSettled'];
  /** Resolves when every listener has heard of it. Never rejects: the call is over, whatever they make of it. */
  tell(call: SettledCall): Promise<void>;
}

export function createSettledListeners(log: Logger): SettledListeners {
  const listeners = new Set<{ readonly listener: Listener }>();
  return {
    onSettled(listener) {
      const entry = { listener };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    async tell(call) {
      const told = await Promise.allSettled([...listeners].map(async ({ listener }) => listener(call)));
      for (const one of told) {
        if (one.status === 'rejected') log.error('a listener to calls failed', { callId: call.id, error: one.reason });
      }
    },
  };
}
