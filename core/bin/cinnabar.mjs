#!/usr/bin/env node
/**
 * The command `cinnabar`, of this package and of the one that brings all of them (`cinnabar`). It is plain JavaScript that is there before anything is
 * built, so that npm can link it on a fresh clone; there it installs and builds what is missing first. An installed package has no sources.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

if (existsSync(new URL('../src/cli/main.ts', import.meta.url))) {
  process.argv.splice(2, 0, 'cinnabar');
  await import('../bootstrap.mjs');
} else {
  // `!bot restart` comes through here again.
  process.env.CINNABAR_LAUNCHER ??= JSON.stringify([fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
  await import('@cinnabar/core/internal/cli/main');
}
