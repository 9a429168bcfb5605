import { spawn } from 'node:child_process';
import { z } from 'zod';
import { STOP_SIGNALS } from './signals.js';

/**
 * The exit code after which the bot wants to be started again: EX_TEMPFAIL of sysexits.h. `config/systemd/cinnabar.service` and containers do so;
 * a process that `npm start` or `npx cinnabar` has begun does it itself (`runAgain`).
 */
export const RESTART_CODE = 75;

const LAUNCHER = 'CINNABAR_LAUNCHER';
/** Set to this in a process that `runAgain` watches over. */
const WATCHED = 'none';

/** What starts this process again, with its environment. */
interface Relaunch {
  /** Arguments of Node. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * How a process begun by `core/bootstrap.mjs` is started again; `undefined` where something else watches over it. To be asked before secrets are
 * taken out of the environment: the next process needs them, too.
 */
export function relaunchOf(env: NodeJS.ProcessEnv): Relaunch | undefined {
  try {
    const args = z.array(z.string()).parse(JSON.parse(env[LAUNCHER] ?? ''));
    return { args, env: { ...env, [LAUNCHER]: WATCHED } };
  } catch {
    return undefined;
  }
}

/**
 * Starts the program again, as often as it ends with `RESTART_CODE`, and passes signals on to it. This process does nothing else from then on.
 * @returns the exit code of the last one
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
