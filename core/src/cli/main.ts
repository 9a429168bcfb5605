#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { BUNDLE_DIR, bundleDirOf, IS_SOURCE_TREE } from '../bundling/built.js';
import { type HostBundle, openHostBundle } from '../bundling/run-host.js';

// Few imports: commands run from the host's bundle when that is up to date, and otherwise from the host's own files.

const args = process.argv.slice(2);
/** The command parses its arguments itself, and reports the mistakes in them. */
const { values, positionals } = parseArgs({
  args,
  options: { bot: { type: 'string' } },
  strict: false,
  allowPositionals: true,
});
const commandLine = (await openBundle()) ?? (await import('./command-line.js'));
await commandLine.runCommandLine(args);

async function openBundle(): Promise<HostBundle | undefined> {
  const dir = await bundleDir();
  if (dir === undefined) return undefined;
  return openHostBundle(dir, {
    runsBot: ['start', 'console', 'dev'].includes(positionals[0] ?? 'start'),
    onUnusable: (error) =>
      process.stderr.write(`cinnabar: the built host cannot be used (${String(error)}), so this start takes longer.\n`),
  });
}

/**
 * The folder of the bundle. For installed packages it depends on the configuration; `undefined` when that cannot be read, which the command reports.
 */
async function bundleDir(): Promise<string | undefined> {
  if (IS_SOURCE_TREE) return BUNDLE_DIR;
  const { placesOf, readEnvironment } = await import('../config/places.js');
  const root = process.cwd();
  const bot = typeof values.bot === 'string' ? values.bot : undefined;
  try {
    return bundleDirOf(placesOf(root, readEnvironment(root, process.env, bot)).buildCacheDir);
  } catch {
    return undefined;
  }
}
