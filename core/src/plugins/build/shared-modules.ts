import { createRequire } from 'node:module';
import * as sdk from '@cinnabar/sdk';
import * as worker from '@cinnabar/sdk/worker';
import * as zod from 'zod';
import type { SharedModule } from './plugin-require.js';

const core = createRequire(import.meta.url);

/** What plugins share with the host in the main thread: classes and registries must be the same objects. */
export const sharedModule: SharedModule = (specifier, resolve) => {
  if (specifier === '@cinnabar/sdk') return sdk;
  if (specifier === '@cinnabar/sdk/worker') return worker;
  // `require` would load the same zod a second time, as CommonJS, and schemas would know nothing of each other's registries.
  return specifier === 'zod' && resolve() === core.resolve('zod') ? zod : undefined;
};
