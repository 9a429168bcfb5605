import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from '@cinnabar/sdk';
import type { Orders } from './child.js';

/** A process of a bot whose clock the campaign moves. */
export interface BotProcess {
  /** Moves its clock; resolves when it is idle, with whether there was work. @throws when it has ended by itself */
  advance(byMs: number): Promise<boolean>;
  /** Kills it immediately. */
  kill(): Promise<void>;
}

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
const restSchema = z.object({ moved: z.boolean() });

/** Resolves when it is logged in. @throws when it ends by itself, with its output */
export async function startBot(orders: Orders): Promise<BotProcess> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(orders)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const said = () =>
    new Promise<unknown>((resolve, reject) => {
      const onMessage = (message: unknown) => {
        child.off('exit', onExit);
        resolve(message);
      };
      const onExit = () => {
        child.off('message', onMessage);
        reject(new Error(`a bot ended by itself: ${complaint}`));
      };
      child.once('message', onMessage);
      child.once('exit', onExit);
    });
  await said();
  return {
    async advance(advanceMs) {
      const rested = said();
      child.send({ advanceMs });
      return restSchema.parse(await rested).moved;
    },
    async kill() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
