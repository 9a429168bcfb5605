import type { Logger, TaskMessage } from '@cinnabar/sdk';

/** Whoever wants to hear what tasks say. */
export function createMessages(log: Logger) {
  const listeners = new Set<(message: TaskMessage) => void>();
  return {
    add(listener: (message: TaskMessage) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    tell(message: TaskMessage) {
      for (const listener of listeners) {
        try {
          listener(message);
        } catch (error) {
          log.warn('a listener to what tasks say failed', { taskId: message.taskId, error });
        }
      }
    },
  };
}
