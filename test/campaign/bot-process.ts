import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process of the bot. */
export interface Bot {
  isReady(): boolean;
  isDead(): boolean;
  /** Its unexpected output. */
  complaint(): string;
  /** Kills it immediately. */
  kill(): void;
  /** Makes it hand its servers over to other members of its cluster, and end. */
  drain(): void;
  /** Resolves when the process has ended. */
  readonly gone: Promise<unknown>;
}

/** @param child a module that reads its orders, as JSON, from its first argument, and prints `ready` once it is logged in */
export function startBotProcess(child: URL, orders: object): Bot {
  const spawned = spawn(process.execPath, [fileURLToPath(child), JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [ready, dead, complaint] = [false, false, ''];
  spawned.stdout.setEncoding('utf8').on('data', (text: string) => {
    ready ||= text.includes('ready');
  });
  spawned.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const gone = once(spawned, 'close').then(() => {
    dead = true;
  });
  return {
    isReady: () => ready,
    isDead: () => dead,
    complaint: () => complaint,
    kill: () => void spawned.kill('SIGKILL'),
    drain: () => void spawned.kill('SIGTERM'),
    gone,
  };
}
