#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { areFoldersSame, findBuilt } from '../bundling/built.js';
import { type HostBundle, runHostBundle } from '../bundling/run-host.js';

// Few imports: `start` runs the host from its bundle where that is up to date, and everything else loads what it needs.

const args = process.argv.slice(2);
const host = isStart() ? openBundle() : undefined;
if ((await host?.runOnDiscord(args)) !== true) await (await import('./command-line.js')).runCommandLine(args);

/** What the arguments mean is read by the command itself. */
function isStart(): boolean {
  const options = {
    bot: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'v' },
  } as const;
  const { values, positionals } = parseArgs({ args, options, strict: false, allowPositionals: true });
  const [command = 'start'] = positionals;
  return command === 'start' && values.help !== true && values.version !== true;
}

function openBundle(): HostBundle | undefined {
  const built = findBuilt();
  if (built === undefined) return undefined;
  try {
    return runHostBundle(built, areFoldersSame(built));
  } catch (error) {
    process.stderr.write(`cinnabar: the built host cannot be used (${String(error)}), so this start takes longer.\n`);
    return undefined;
  }
}
