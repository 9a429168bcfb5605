/** The part of the SDK for modules that run in worker threads: loading the whole SDK would take longer than most jobs. */
export { z } from 'zod';
export { once } from './async/concurrency.js';
export * from './errors.js';
export { t } from './text/language.js';
export { sanitizeName } from './text/untrusted.js';
