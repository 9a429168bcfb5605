import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { runCommand } from '@cinnabar/core/internal/cli/command-line';
import { readArguments } from '@cinnabar/core/internal/cli/discord';

/** The program, for processes of their own. */
export const PROGRAM = fileURLToPath(import.meta.resolve('@cinnabar/core/internal/cli/main'));

/** Where a command is typed. */
export interface Place {
  readonly cwd: string;
  /** All of the environment, but for where built plugins are kept: that is the same for all tests. The command takes the secrets from it. */
  readonly env?: NodeJS.ProcessEnv;
  /** The answers to what it asks. */
  readonly typed?: string;
}

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Both, as they stand on a screen. */
  readonly screen: string;
}

/** Runs a command that runs no bot, as on the command line, but in this process. */
export async function cinnabar(args: readonly string[], { cwd, env = {}, typed = '' }: Place): Promise<CommandResult> {
  const printed = { out: '', err: '', screen: '' };
  const into = (name: 'out' | 'err') =>
    new Writable({
      write(chunk, _encoding, done) {
        printed[name] += String(chunk);
        printed.screen += String(chunk);
        done();
      },
    });
  env.BUILD_CACHE_PATH ??= process.env.BUILD_CACHE_PATH;
  const code = await runCommand(args, {
    stdin: Readable.from([typed]),
    stdout: into('out'),
    stderr: into('err'),
    env,
    cwd: () => cwd,
  });
  return { code, ...printed };
}

/** What a command line asks for, without doing it. @throws UserError for an option that there is not */
export function asksFor(args: readonly string[]) {
  const { command, operands, project } = readArguments(args);
  return { command, operands, isProject: project };
}
