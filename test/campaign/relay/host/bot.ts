import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Orders } from './child.js';

/** One process of the bot. */
export interface Bot {
  isReady(): boolean;
  isDead(): boolean;
  /** Anything that it complained about. */
  complaint(): string;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
  /** Resolves when it is gone. */
  readonly gone: Promise<unknown>;
}

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));

export function startBot(orders: Orders): Bot {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(orders)], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [ready, dead, complaint] = [false, false, ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    ready ||= text.includes('ready');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const gone = once(child, 'close').then(() => {
    dead = true;
  });
  return {
    isReady: () => ready,
    isDead: () => dead,
    complaint: () => complaint,
    kill: () => void child.kill('SIGKILL'),
    gone,
  };
}
