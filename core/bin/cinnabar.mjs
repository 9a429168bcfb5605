#!/usr/bin/env node
/**
 * The command `cinnabar`. It is plain JavaScript that is there before anything is built, so that npm can link it on a fresh clone; there it
 * installs and builds what is missing first. An installed package has its `dist` and no sources.
 */
import { existsSync } from 'node:fs';

if (existsSync(new URL('../src/cli/main.ts', import.meta.url))) {
  process.argv.splice(2, 0, 'cinnabar');
  await import('../bootstrap.mjs');
} else {
  await import('../dist/cli/main.js');
}
