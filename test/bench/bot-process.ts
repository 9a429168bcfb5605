import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LocalApplication, LocalDiscord } from '@cinnabar/local-discord';
import { PROGRAM } from '../support/cinnabar.js';
import type { Answer, Memory, Question } from './bots/protocol.js';

export type BotName = 'raw' | 'sapphire' | 'cinnabar';
export const BOTS: readonly BotName[] = ['raw', 'sapphire', 'cinnabar'];

/** A bot in a separate process, so that its processor time can be measured. */
export interface BotProcess {
  readonly pid: number;
  /** Time from the start of the process to ready. */
  readonly startMs: number;
  /** Processor time from the start of the process to ready. */
  readonly startCpuUs: number;
  /** Processor time since the process started. */
  cpuUs(): Promise<number>;
  /** Memory after a garbage collection. */
  memory(): Promise<Memory>;
  /** @throws Error when it has not ended after 15 s; it is killed then */
  stop(): Promise<void>;
  /** Kills it at once, like a machine that fails. */
  kill(): Promise<void>;
}

const STOP_WITHIN_MS = 15_000;

/** The source folder of the bench's commands: the host loads plugins from sources. */
const PLUGINS = fileURLToPath(new URL('../../bench/bots/plugins', import.meta.url));
const PROBE = new URL('./bots/probe.js', import.meta.url).href;

/**
 * @param dataDir folder of its data; default: a new folder, which is removed at the end
 * @param env additional variables of its environment; only Cinnabar reads them
 * @param args arguments of Cinnabar's command line
 */
export async function startBot(
  name: BotName | 'hostile',
  discord: LocalDiscord,
  application: LocalApplication,
  dataDir?: string,
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = ['start'],
): Promise<BotProcess> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'cinnabar-bench-'));
  const started = performance.now();
  const child =
    name === 'cinnabar'
      ? fork(PROGRAM, args, {
          execArgv: ['--import', PROBE],
          stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
          env: {
            PATH: process.env.PATH,
            DISCORD_API: discord.api,
            DISCORD_TOKEN: application.token,
            CINNABAR_DATA: folder,
            CINNABAR_PLUGINS: PLUGINS,
            CINNABAR_MONITORING: 'off',
            LOG_LEVEL: 'error',
            ...env,
          },
        })
      : forkBot(name, [discord.api, application.token, folder, ...asArguments(env)]);
  const ask = (question: Question) => {
    const answer = nextAnswer(child);
    child.send(question);
    return answer;
  };
  const isReady = name === 'cinnabar' ? printsReady(child).then(() => ask('cpu')) : nextAnswer(child);
  const ready = await isReady;
  const startMs = performance.now() - started;
  return {
    pid: child.pid ?? 0,
    startMs,
    startCpuUs: processorOf(ready).cpuUs,
    cpuUs: async () => processorOf(await ask('cpu')).cpuUs,
    async memory() {
      const answer = await ask('memory');
      if (!('memory' in answer)) throw new Error(`the bot ${name} did not say what it holds`);
      return answer.memory;
    },
    async stop() {
      await end(name, child);
      if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
    },
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function forkBot(name: string, args: readonly string[]): ChildProcess {
  const script = fileURLToPath(new URL(`./bots/${name}.js`, import.meta.url));
  return fork(script, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

const asArguments = (env: Readonly<Record<string, string>>) =>
  Object.entries(env).map(([name, value]) => `${name}=${value}`);

function printsReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`Cinnabar ended with code ${code}`));
    child.once('exit', onExit);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (!text.includes('is ready')) return;
      child.off('exit', onExit);
      resolve();
    });
  });
}

function processorOf(answer: Answer): Extract<Answer, { readonly cpuUs: number }> {
  if ('cpuUs' in answer) return answer;
  throw new Error('a bot did not say how much processor time it has used');
}

async function end(name: string, child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(STOP_WITHIN_MS) });
  child.disconnect();
  try {
    await exited;
  } catch (cause) {
    child.kill('SIGKILL');
    throw new Error(`the bot ${name} did not stop within ${STOP_WITHIN_MS / 1000} s`, { cause });
  }
}

function nextAnswer(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a bot ended with code ${code}`));
    child.once('exit', onExit);
    child.once('message', (answer: Answer) => {
      child.off('exit', onExit);
      resolve(answer);
    });
  });
}
