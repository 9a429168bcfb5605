import type { Logger } from '@cinnabar/sdk';

/**
 * Keeps the process alive when code forgets to await a promise that fails, and says so.
 * @returns a function that takes the guard away
 */
export function guardProcess(log: Logger): () => void {
  const onRejection = (error: unknown) => log.error('a promise failed and nobody was waiting for it', { error });
  process.on('unhandledRejection', onRejection);
  return () => void process.off('unhandledRejection', onRejection);
}
