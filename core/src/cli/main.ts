#!/usr/bin/env node
import { sentenceOf } from '@cinnabar/sdk';
import { openDataDir } from '../config/data-dir.js';
import type { HostConfig } from '../config/host-config.js';
import { loadConfig } from '../config/load.js';

const HELP = `Cinnabar, a Discord bot host.

  cinnabar start      logs in with DISCORD_TOKEN; without it, opens a local Discord to talk to
  cinnabar console    opens the local Discord, token or not
  cinnabar version    prints the version

Configuration: config/shared.yaml, .env and the environment. See README.md.
`;

/** Runs one command of the command line; the result is the exit code. */
async function main(command: string): Promise<number> {
  switch (command) {
    case 'start': {
      const config = configuration();
      if (config.token === undefined) return (await import('./console/run.js')).runConsole(config, process);
      return (await import('./start.js')).runBot({ ...config, token: config.token }, process);
    }
    case 'console':
      return (await import('./console/run.js')).runConsole(configuration(), process);
    case 'version':
    case '--version':
      process.stdout.write(`${(await import('../version.js')).HOST_VERSION}\n`);
      return 0;
    case 'help':
    case '--help':
      process.stdout.write(HELP);
      return 0;
    default:
      process.stderr.write(`There is no command "${command}".\n\n${HELP}`);
      return 1;
  }
}

function configuration(): HostConfig {
  const config = loadConfig(process.cwd(), process.env);
  openDataDir(config.dataDir);
  return config;
}

try {
  process.exitCode = await main(process.argv[2] ?? 'start');
} catch (error) {
  // What a person can put right is one sentence; anything else is a defect, and its stack helps to find it.
  const sentence = sentenceOf(error) ?? (error instanceof Error ? error.stack : String(error));
  process.stderr.write(`cinnabar: ${sentence}\n`);
  process.exitCode = 1;
}
