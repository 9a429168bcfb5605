import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LocalApplication, LocalDiscord } from '@cinnabar/local-discord';
import type { Answer, Memory, Question } from './bots/protocol.js';

export type BotName = 'raw' | 'sapphire' | 'cinnabar';
export const BOTS: readonly BotName[] = ['raw', 'sapphire', 'cinnabar'];

/** A bot in a process of its own, so that its processor time is its alone. */
export interface BotProcess {
  readonly pid: number;
  /** From the start of the process to ready. */
  readonly startMs: number;
  /** Of that, what came after its modules had been loaded. */
  readonly sinceLoadedMs: number;
  /** Processor time of that. */
  readonly startCpuUs: number;
  /** Processor time since the process started. */
  cpuUs(): Promise<number>;
  /** What it holds after a garbage collection. */
  memory(): Promise<Memory>;
  /** @throws Error when it has not ended 15 s later; then it is killed */
  stop(): Promise<void>;
}

const STOP_WITHIN_MS = 15_000;

/**
 * @param dataDir where it keeps its data; a new folder, removed at the end, when left out
 * @param env more variables of its environment; Cinnabar alone reads them
 */
export async function startBot(
  name: BotName | 'hostile',
  discord: LocalDiscord,
  application: LocalApplication,
  dataDir?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<BotProcess> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'cinnabar-bench-'));
  const script = fileURLToPath(new URL(`./bots/${name}.js`, import.meta.url));
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const started = performance.now();
  const child = fork(script, [discord.api, application.token, folder, ...variables], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ready = await nextAnswer(child);
  const startMs = performance.now() - started;
  const ask = (question: Question) => {
    child.send(question);
    return nextAnswer(child);
  };
  return {
    pid: child.pid ?? 0,
    startMs,
    sinceLoadedMs: processorOf(ready).sinceLoadedMs,
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
  };
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
