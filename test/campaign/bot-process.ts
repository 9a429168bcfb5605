import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** One process of the bot. */
export interface Bot {
  isReady(): boolean;
  isDead(): boolean;
  /** Anything that it complained about. */
  complaint(): string;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
  /** Asks it to hand its servers over to other machines of its cluster, and to end. */
  drain(): void;
  /** Resolves when it is gone. */
  readonly gone: Promise<unknown>;
}

/** @param child a module that reads its orders, as JSON, from its first argument, and says `ready` once it is logged in */
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
