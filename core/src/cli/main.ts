#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { areFoldersSame, BUNDLE_DIR, bundleDirOf, findBuilt, IS_SOURCE_TREE } from '../bundling/built.js';
import { type HostBundle, runHostBundle } from '../bundling/run-host.js';

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
  const built = dir === undefined ? undefined : findBuilt(dir);
  if (dir === undefined || built === undefined) return undefined;
  try {
    const runsBot = ['start', 'console', 'dev'].includes(positionals[0] ?? 'start');
    return runHostBundle(dir, built, { withPlugins: areFoldersSame(built), runsBot });
  } catch (error) {
    process.stderr.write(`cinnabar: the built host cannot be used (${String(error)}), so this start takes longer.\n`);
    return undefined;
  }
}

/** Of installed packages it is in the bot's data folder, which a file that cannot be read may name: the command says what is wrong with it. */
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
