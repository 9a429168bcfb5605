import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';

/** Signals that stop the bot: Ctrl-C, a service manager, a closed terminal. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type StopSignal = (typeof STOP_SIGNALS)[number];

/** A signal, and its time: milliseconds of a monotonic clock. */
export interface Received {
  readonly signal: StopSignal;
  readonly at: number;
}

/** Equal signals within this time are one request: at Ctrl-C under `npm start`, the terminal and npm each send one. */
const TOGETHER_MS = 500;

/** Whether two signals are the same request. */
export function isRepeated(earlier: Received, later: Received): boolean {
  return earlier.signal === later.signal && later.at - earlier.at < TOGETHER_MS;
}

/** The exit code after a second signal. */
const HURRIED = 128 + constants.signals.SIGINT;

interface StopRequests {
  /** Resolves at the first signal, or request. */
  readonly first: Promise<StopSignal>;
  /** Acts like a signal; the second one, of either kind, ends the process immediately. */
  request(signal: StopSignal): void;
  /** Stops listening. */
  release(): void;
}

/**
 * Listens to the signals that end the bot. The first one begins the stop; the second one ends the process at once, for people who cannot wait. While the event
 * loop is blocked, the watchdog handles the second one.
 * @param say gets a sentence for the terminal
 * @param limitS how long the stop may take, in seconds
 */
export function listenToSignals(
  process: NodeJS.Process,
  say: (sentence: string) => void = () => undefined,
  limitS = 15,
): StopRequests {
  let resolveFirst: (signal: StopSignal) => void = () => undefined;
  let last: Received | undefined;
  const first = new Promise<StopSignal>((resolve) => {
    resolveFirst = resolve;
  });
  const request = (signal: StopSignal) => {
    const received = { signal, at: performance.now() };
    if (last !== undefined && isRepeated(last, received)) return;
    if (last !== undefined) {
      say(`${signal}: ended at once.`);
      process.exit(HURRIED);
    }
    last = received;
    say(`${signal}: stopping, which may take up to ${limitS} s; a second signal ends it at once.`);
    resolveFirst(signal);
  };
  // The same listeners handle the first and the second signal, since a signal between removing and adding listeners would have its default effect.
  for (const signal of STOP_SIGNALS) process.on(signal, request);
  return {
    first,
    request,
    release() {
      for (const signal of STOP_SIGNALS) process.off(signal, request);
    },
  };
}

/**
 * The exit code that requests a restart: EX_TEMPFAIL of sysexits.h. `config/systemd/cinnabar.service` and containers restart then; a process started by `npm
 * start` or `npx cinnabar` restarts itself (`runAgain`).
 */
export const RESTART_CODE = 75;

const LAUNCHER = 'CINNABAR_LAUNCHER';
/** Set in a process that `runAgain` supervises. */
const WATCHED = 'none';

/** The program that restarts this process, with its environment. */
interface Relaunch {
  /** Arguments of Node. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The arguments and environment with which a process started by `core/bootstrap.mjs` is restarted; `undefined` when another program supervises the process. To
 * be called before secrets are removed from the environment, since the next process needs them.
 */
export function relaunchOf(env: NodeJS.ProcessEnv): Relaunch | undefined {
  try {
    const args: unknown = JSON.parse(env[LAUNCHER] ?? '');
    // Checked without zod, since the watchdog's thread loads this module at every start.
    if (!Array.isArray(args) || !args.every((arg) => typeof arg === 'string')) return undefined;
    return { args, env: { ...env, [LAUNCHER]: WATCHED } };
  } catch {
    return undefined;
  }
}

/**
 * Runs the program, restarts it when it ends with `RESTART_CODE`, and passes signals on to it. This process does nothing else from then on.
 * @returns the exit code of the last run
 */
export async function runAgain({ args, env }: Relaunch, process: NodeJS.Process): Promise<number> {
  let pass: (signal: NodeJS.Signals) => void = () => undefined;
  const listener = (signal: NodeJS.Signals) => pass(signal);
  for (const signal of STOP_SIGNALS) process.on(signal, listener);
  try {
    for (;;) {
      const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: 'inherit', env });
      pass = (signal) => void child.kill(signal);
      const code = await new Promise<number>((resolve, reject) => {
        child.once('error', reject);
        child.once('exit', (ended) => resolve(ended ?? 1));
      });
      if (code !== RESTART_CODE) return code;
    }
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, listener);
  }
}
