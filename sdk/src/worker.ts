/** The small part of the SDK for modules that run in worker threads; the whole of it takes longer to load than most jobs do. */
export { z } from 'zod';
export { once } from './async/concurrency.js';
export * from './errors.js';
export { t } from './text/language.js';
export { sanitizeName } from './text/untrusted.js';
