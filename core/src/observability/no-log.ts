import type { Logger } from '@cinnabar/sdk';

/** A logger that drops its entries, for code that reports problems in another way. */
export const NO_LOG: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  traces: false,
  child: () => NO_LOG,
};
