import { spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { t, UserError } from '@cinnabar/sdk';

type Environment = Readonly<Record<string, string | undefined>>;

interface Run {
  readonly cwd: string;
  /** Variables in addition to those that all programs get: the search path, the user's folder, the proxy. */
  readonly env: Environment;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called periodically: throws when the program has exceeded a limit. */
  readonly watch?: () => Promise<void>;
}

/** The variables that child programs get; no token and no key of the bot is among them. */
const PASSED =
  /^(?:PATH|HOME|USER|USERPROFILE|APPDATA|LOCALAPPDATA|SYSTEMROOT|TEMP|TMP|TMPDIR|LANG|HTTPS?_PROXY|NO_PROXY|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|SSH_AUTH_SOCK)$/i;
const MOST_OUTPUT = 20_000;
const WATCH_MS = 200;

/** The program is not installed. */
export class NoProgram extends Error {}

/**
 * Runs a program to its end.
 * @throws NoProgram when it is not there; UserError with the end of its output when it fails
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env, timeoutMs, signal, watch }: Run,
): Promise<void> {
  const passed = Object.entries(process.env).filter(([name]) => PASSED.test(name));
  // npm is next to this Node executable, which may not be in the search path.
  const path = [process.env.PATH ?? '', dirname(process.execPath)].join(delimiter);
  const child = spawn(program, [...args], {
    cwd,
    env: { ...Object.fromEntries(passed), PATH: path, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // npm is a script on Windows.
    shell: process.platform === 'win32',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    ...(signal === undefined ? {} : { signal }),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = `${output}${text}`.slice(-MOST_OUTPUT);
    });
  let tooFar: unknown;
  const timer =
    watch === undefined
      ? undefined
      : setInterval(() => {
          watch().catch((error: unknown) => {
            tooFar ??= error;
            child.kill('SIGKILL');
          });
        }, WATCH_MS);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (tooFar !== undefined) throw tooFar;
    if (code !== 0) throw new UserError(t('{program} failed: {detail}', { program, detail: reasonIn(output) }));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new NoProgram(program, { cause: error });
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** The reason in the output of npm and git, without their prefixes for errors. */
function reasonIn(output: string): string {
  const lines = output
    .split('\n')
    .map((line) => line.replace(/^(?:npm (?:error|ERR!)|fatal:|error:)\s*/i, '').trim())
    .filter((line) => line !== '' && !/^(?:npm (?:warn|notice)|code |A complete log|Cloning into)/i.test(line));
  return lines.slice(0, 3).join(' ').slice(0, 400) || t('it was ended');
}
