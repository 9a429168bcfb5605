import { operatorSentenceOf } from '@cinnabar/sdk';
import type { HostConfig } from '../config/host-config.js';
import { loadConfig, openDataDir } from '../config/load.js';
import { scrubEnvironment } from '../process/scrub-environment.js';
import { readArguments } from './arguments.js';
import { runBot, type StartOptions } from './start.js';

/**
 * `cinnabar start` with a token: runs the bot until it stops.
 * @returns the exit code; `undefined` when there is no token, so that nothing was begun
 */
export async function startOnDiscord(args: readonly string[], options: StartOptions = {}): Promise<number | undefined> {
  const config = loadConfig(process.cwd(), process.env, readArguments(args).bot);
  if (config.token === undefined) return undefined;
  prepare(config);
  return runBot({ ...config, token: config.token }, process, options);
}

/** Before the bot is started: its folder for data is there, and the process's environment holds no secrets any more, since the configuration has its own copy. */
export function prepare(config: HostConfig): void {
  openDataDir(config.dataDir);
  scrubEnvironment(process.env);
}

/** The same, and ends the process with the exit code. @returns `false` when nothing was begun */
export function runOnDiscord(args: readonly string[], options: StartOptions): Promise<boolean> {
  return endWith(() => startOnDiscord(args, options));
}

/** Carries out a command, then ends the process with its exit code. @returns `false`, and goes on, when the command gives none */
export async function endWith(command: () => Promise<number | undefined>): Promise<boolean> {
  // The timers of the host do not keep the process alive: while it waits for Discord, or stops, this does.
  const keepAlive = setInterval(() => undefined, 2 ** 30);
  try {
    const code = await command();
    if (code === undefined) {
      clearInterval(keepAlive);
      return false;
    }
    process.exitCode = code;
  } catch (error) {
    // What a person can put right is one sentence; anything else is a defect, and its stack helps to find it.
    const sentence = operatorSentenceOf(error) ?? (error instanceof Error ? error.stack : String(error));
    process.stderr.write(`cinnabar: ${sentence}\n`);
    process.exitCode = 1;
  }
  clearInterval(keepAlive);
  // A request that hangs, or a timer that a plugin has left behind, must not keep the process; what is printed must arrive.
  process.stdout.write('', () => process.stderr.write('', () => process.exit()));
  return true;
}
