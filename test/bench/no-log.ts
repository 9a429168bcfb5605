import type { Logger } from '@cinnabar/sdk';

/** Drops the log: only the measured work counts. */
export const NO_LOG: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  traces: false,
  child: () => NO_LOG,
};
