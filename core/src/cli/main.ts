#!/usr/bin/env node
import { operatorSentenceOf } from '@cinnabar/sdk';
import { openDataDir } from '../config/data-dir.js';
import type { HostConfig } from '../config/host-config.js';
import { loadConfig } from '../config/load.js';
import { scrubEnvironment } from '../process/scrub-environment.js';
import { type Arguments, readArguments } from './arguments.js';

const HELP = `Cinnabar, a Discord bot host.

  cinnabar start [--bot NAME]      logs in with DISCORD_TOKEN; without it, opens a local Discord to talk to
  cinnabar console [--bot NAME]    opens the local Discord, token or not
  cinnabar schema [FILE]           prints the JSON Schema of the configuration files, for editors, or writes it to FILE
  cinnabar import chapter2|chapter3 DIR [--dry-run] [--overwrite] [--bot-id ID]
                                   takes over the bots and tool calls of those programs
  cinnabar version                 prints the version

--bot chooses config/bots/NAME.yaml and data of its own; the variable BOT_NAME does the same.
Configuration: config/, .env and the environment. See README.md.
`;

/** Runs one command of the command line; the result is the exit code. */
async function main(given: Arguments): Promise<number> {
  const { command, operands, bot } = given;
  switch (command) {
    case 'start': {
      const config = configuration(bot);
      if (config.token === undefined) return (await import('./console/run.js')).runConsole(config, process);
      return (await import('./start.js')).runBot({ ...config, token: config.token }, process);
    }
    case 'console':
      return (await import('./console/run.js')).runConsole(configuration(bot), process);
    case 'schema':
      return (await import('./schema.js')).printSchema(
        loadConfig(process.cwd(), process.env, bot),
        operands[0],
        process,
      );
    case 'import':
      return (await import('./import/import.js')).runImport(operands, given, process);
    case 'version':
      process.stdout.write(`${(await import('../version.js')).HOST_VERSION}\n`);
      return 0;
    case 'help':
      process.stdout.write(HELP);
      return 0;
    default:
      process.stderr.write(`There is no command "${command}".\n\n${HELP}`);
      return 1;
  }
}

function configuration(bot: string | undefined): HostConfig {
  const config = loadConfig(process.cwd(), process.env, bot);
  openDataDir(config.dataDir);
  // The configuration has its own copy.
  scrubEnvironment(process.env);
  return config;
}

// The timers of the host do not keep the process alive: while it waits for Discord, or stops, this does.
const keepAlive = setInterval(() => undefined, 2 ** 30);
try {
  process.exitCode = await main(readArguments(process.argv.slice(2)));
} catch (error) {
  // What a person can put right is one sentence; anything else is a defect, and its stack helps to find it.
  const sentence = operatorSentenceOf(error) ?? (error instanceof Error ? error.stack : String(error));
  process.stderr.write(`cinnabar: ${sentence}\n`);
  process.exitCode = 1;
}
clearInterval(keepAlive);
// A request that hangs, or a timer that a plugin has left behind, must not keep the process; what is printed must arrive.
process.stdout.write('', () => process.stderr.write('', () => process.exit()));
