#!/usr/bin/env node
/**
 * The command `cinnabar`, of this package and of the package `cinnabar` that contains all others. It is plain JavaScript that exists before the build, so that
 * npm can link it on a fresh clone; there it first installs and builds. An installed package has no sources.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

if (existsSync(new URL('../src/cli/main.ts', import.meta.url))) {
  process.argv.splice(2, 0, 'cinnabar');
  await import('../bootstrap.mjs');
} else {
  // `!bot restart` runs this file again.
  process.env.CINNABAR_LAUNCHER ??= JSON.stringify([fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
  await import('@cinnabar/core/internal/cli/main');
}
