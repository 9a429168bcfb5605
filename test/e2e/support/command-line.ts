import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PROGRAM } from '../../support/cinnabar.js';
import { recordExchanges } from '../../support/discord-openapi/record.js';
import { withoutStalls } from '../../support/stalls.js';
import { leaveUnwatched } from '../../support/untranslated/hooks.js';

/** A developer's own settings must not affect the tests. */
const NOT_INHERITED = /^(DISCORD|CINNABAR|OPENAI|ANTHROPIC|LETTA|LOG_LEVEL)/;

export interface Run {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  /** Standard error, without warnings about the speed of the machine. */
  readonly err: string;
}

/** The bot's command line in a separate process. */
export interface CommandLine {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves as soon as standard output (or error) so far matches; rejects when the process ends without it. */
  prints(pattern: RegExp, stream?: 'out' | 'err'): Promise<string>;
  /** The output on standard error so far. */
  errors(): string;
  /** Resolves when the process has ended. */
  readonly ended: Promise<Run>;
}

type Environment = Readonly<Record<string, string>>;

interface CommandLines {
  /** Starts `cinnabar start` without the developer's environment. Input stays open until it is ended. */
  start(env: Environment, args?: readonly string[]): CommandLine;
  /** Sends all input to the local Discord of `cinnabar start`, and waits for the end of the process. */
  play(dataDir: string, input: readonly string[] | Buffer, env?: Environment): Promise<Run>;
}

/** For the tests of a suite: every process ends with its test. */
export function useCommandLine(): CommandLines {
  const running = new Set<ChildProcessWithoutNullStreams>();
  afterEach(() => {
    for (const child of running) child.kill('SIGKILL');
  });
  const start: CommandLines['start'] = (env, args = ['start']) => {
    const line = startCommandLine(env, args);
    running.add(line.child);
    void line.ended.then(() => running.delete(line.child));
    return line;
  };
  return {
    start,
    play(dataDir, input, env = {}) {
      const { child, ended } = start({ CINNABAR_DATA: dataDir, ...env });
      child.stdin.end(Buffer.isBuffer(input) ? input : input.map((line) => `${line}\n`).join(''));
      return ended;
    },
  };
}

/** Starts the command line without the developer's environment. The caller ends it. */
export function startCommandLine(env: Environment, args: readonly string[]): CommandLine {
  const inherited = Object.entries(process.env).filter(([name]) => !NOT_INHERITED.test(name));
  leaveUnwatched();
  const recording = recordExchanges();
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...Object.fromEntries(inherited), ...recording.env, ...env },
  });
  const seen = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    seen.err += text;
  });
  // A process that ends early does not read its whole input.
  child.stdin.on('error', () => undefined);
  const ended = once(child, 'close').then((): Run => {
    recording.publish();
    return {
      out: seen.out,
      err: withoutStalls(seen.err),
      code: child.exitCode,
      signal: child.signalCode,
    };
  });
  return {
    child,
    ended,
    errors: () => seen.err,
    prints: (pattern, stream = 'out') =>
      new Promise((resolve, reject) => {
        const source = stream === 'out' ? child.stdout : child.stderr;
        const look = () => {
          if (!pattern.test(seen[stream])) return;
          source.off('data', look);
          resolve(seen[stream]);
        };
        source.on('data', look);
        void ended.then((run) => reject(new Error(`it ended without ${pattern}: ${JSON.stringify(run)}`)));
        look();
      }),
  };
}
