import type { Logger } from '@cinnabar/sdk';

/** For what tells of its troubles otherwise. */
export const NO_LOG: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  traces: false,
  child: () => NO_LOG,
};
