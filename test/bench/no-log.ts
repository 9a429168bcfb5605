import type { Logger } from '@cinnabar/sdk';

/** Of what is measured alone. */
export const NO_LOG: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  traces: false,
  child: () => NO_LOG,
};
