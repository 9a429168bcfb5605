import { operatorSentenceOf } from '@cinnabar/sdk';
import type { HostConfig } from '../config/host-config.js';
import { loadConfig, openDataDir } from '../config/load.js';
import { isSecretName } from '../observability/redactor.js';
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

/** Read by the SDKs of clouds from the process itself, in containers alone, and worth nothing elsewhere. */
const NEEDED = new Set(['AWS_CONTAINER_AUTHORIZATION_TOKEN']);

/**
 * Takes tokens and keys out of the environment of the process, once the configuration has read them and before any plugin is evaluated: what a
 * plugin gets of them is what it has declared. Processes that are started later do not inherit them either.
 * @returns the names
 */
export function scrubEnvironment(env: NodeJS.ProcessEnv): readonly string[] {
  const names = Object.keys(env).filter((name) => isSecretName(name) && !NEEDED.has(name));
  for (const name of names) delete env[name];
  return names;
}
