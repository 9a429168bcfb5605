import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { runCommand } from '@cinnabar/core/internal/cli/command-line';
import { readArguments } from '@cinnabar/core/internal/cli/discord';

/** The program for child processes. */
export const PROGRAM = fileURLToPath(import.meta.resolve('@cinnabar/core/internal/cli/main'));

/** The environment of a command. */
export interface Place {
  readonly cwd: string;
  /** The complete environment, except for the build cache, which all tests share. The command reads secrets from it. */
  readonly env?: NodeJS.ProcessEnv;
  /** The answers to its questions. */
  readonly typed?: string;
}

interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Standard output and error, in order. */
  readonly screen: string;
}

/** Runs a command that does not start a bot, as on the command line, but in this process. */
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

/** The parsed arguments of a command line. @throws UserError for an unknown option */
export function asksFor(args: readonly string[]) {
  const { command, operands, project } = readArguments(args);
  return { command, operands, isProject: project };
}
