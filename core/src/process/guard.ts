import type { UncaughtKind } from './uncaught.js';

type Guarded = Pick<NodeJS.Process, 'on' | 'off' | 'stdout' | 'stderr'>;

/**
 * Keeps the process alive when something throws that nothing catches, and when the terminal is gone that it writes to.
 * @returns a function that takes the guard away
 */
export function guardProcess(process: Guarded, report: (error: unknown, kind: UncaughtKind) => void): () => void {
  const onException = (error: unknown) => report(error, 'exception');
  const onRejection = (error: unknown) => report(error, 'rejection');
  // The log writes to the terminal: what fails there must not be logged again.
  const ignore = () => undefined;
  process.on('uncaughtException', onException);
  process.on('unhandledRejection', onRejection);
  process.stdout.on('error', ignore);
  process.stderr.on('error', ignore);
  return () => {
    process.off('uncaughtException', onException);
    process.off('unhandledRejection', onRejection);
    process.stdout.off('error', ignore);
    process.stderr.off('error', ignore);
  };
}
