#!/usr/bin/env node
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { areFoldersSame, BUNDLE_DIR, bundleDirOf, findBuilt, IS_SOURCE_TREE } from '../bundling/built.js';
import { type HostBundle, runHostBundle } from '../bundling/run-host.js';

// Few imports: `start` runs the host from its bundle when that is up to date, and all other commands load what they need.

const args = process.argv.slice(2);
const { isStart, bot } = readStart();
const host = isStart && mayHaveToken() ? openBundle(await bundleDir()) : undefined;
if ((await host?.runOnDiscord(args)) !== true) await (await import('./command-line.js')).runCommandLine(args);

/** The command parses its arguments itself. */
function readStart() {
  const options = {
    bot: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'v' },
  } as const;
  const { values, positionals } = parseArgs({ args, options, strict: false, allowPositionals: true });
  const [command = 'start'] = positionals;
  const isStart = command === 'start' && values.help !== true && values.version !== true;
  return { isStart, bot: typeof values.bot === 'string' ? values.bot : undefined };
}

/** Without a token, the local Discord is opened, which is not in the bundle: reading the bundle would be useless. */
function mayHaveToken(): boolean {
  return Boolean(process.env.DISCORD_TOKEN) || readdirSync('.').some((name) => name.startsWith('.env'));
}

async function bundleDir(): Promise<string> {
  if (IS_SOURCE_TREE) return BUNDLE_DIR;
  const { placesOf, readEnvironment } = await import('../config/places.js');
  const root = process.cwd();
  return bundleDirOf(placesOf(root, readEnvironment(root, process.env, bot)).buildCacheDir);
}

function openBundle(dir: string): HostBundle | undefined {
  const built = findBuilt(dir);
  if (built === undefined) return undefined;
  try {
    return runHostBundle(dir, built, areFoldersSame(built));
  } catch (error) {
    process.stderr.write(`cinnabar: the built host cannot be used (${String(error)}), so this start takes longer.\n`);
    return undefined;
  }
}
