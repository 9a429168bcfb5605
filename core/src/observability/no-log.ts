import type { Logger } from '@cinnabar/sdk';

/** For code that reports its problems another way. */
export const NO_LOG: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  traces: false,
  child: () => NO_LOG,
};
