import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LocalApplication, LocalDiscord } from '@cinnabar/sdk/testing';
import type { Answer, Usage } from './bots/protocol.js';

export type BotName = 'raw' | 'sapphire' | 'cinnabar';
export const BOTS: readonly BotName[] = ['raw', 'sapphire', 'cinnabar'];

/** A bot in a process of its own, so that its processor time is its alone. */
export interface BotProcess {
  /** From the start of the process to ready. */
  readonly startMs: number;
  usage(): Promise<Usage>;
  stop(): Promise<void>;
}

/** @param dataDir where it keeps its data; a new folder, removed at the end, when left out */
export async function startBot(
  name: BotName,
  discord: LocalDiscord,
  application: LocalApplication,
  dataDir?: string,
): Promise<BotProcess> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'cinnabar-bench-'));
  const script = fileURLToPath(new URL(`./bots/${name}.js`, import.meta.url));
  const started = performance.now();
  const child = fork(script, [discord.api, application.token, folder], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await nextAnswer(child);
  const startMs = performance.now() - started;
  return {
    startMs,
    async usage() {
      child.send('usage');
      const answer = await nextAnswer(child);
      if (!('usage' in answer)) throw new Error(`the bot ${name} gave no usage`);
      return answer.usage;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.send('stop');
      await exited;
      if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
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
