/** The bot that is killed: `node child.js '<Orders as JSON>'`. Prints `ready`, then `write N` for each counted write. */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { createFileDriver, type Driver } from '@cinnabar/core';
import { SettingsCatalog } from '@cinnabar/sdk';
import { type Machine, startOnMachine } from '../machine-host.js';
import { effectTools, scriptedModel } from './script.js';

/** The parameters of a process. */
export interface Orders {
  readonly api: string;
  readonly token: string;
  readonly dataDir: string;
  readonly machine: Machine;
  readonly cacheDir: string;
  readonly effects: string;
  readonly owner: { readonly userId: string; readonly guildId: string; readonly channelId: string };
  /** The write at which it dies, counted from when it is ready: directly before or after it reaches the disk. */
  readonly dieAt?: { readonly write: number; readonly when: 'before' | 'after' };
  /** Delay of the model and the tools. */
  readonly delayMs: number;
}

const orders: Orders = JSON.parse(process.argv[2] ?? '{}');
const say = (line: string) => void writeSync(1, `${line}\n`);
const clock = {
  now: Date.now,
  after(delayMs: number, task: () => void) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};
const quiet = {
  error: (message: string, fields?: object) => void writeSync(2, `${message} ${JSON.stringify(fields)}\n`),
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  traces: false,
  child: () => quiet,
};

let counting = false;
let writes = 0;

/** A disk that ends the process at the chosen write. */
function deadly(disk: Driver): Driver {
  const counted = async (write: () => Promise<void>) => {
    if (!counting) return write();
    writes += 1;
    const due = orders.dieAt?.write === writes ? orders.dieAt.when : undefined;
    if (due === 'before') process.kill(process.pid, 'SIGKILL');
    await write();
    if (due === 'after') process.kill(process.pid, 'SIGKILL');
    say(`write ${writes}`);
  };
  return {
    ...disk,
    write: (path, stored) => counted(() => disk.write(path, stored)),
    delete: (path) => counted(() => disk.delete(path)),
  };
}

const host = await startOnMachine(
  {
    clock,
    config: {
      token: orders.token,
      discordApi: orders.api,
      root: process.cwd(),
      botName: undefined,
      configDir: join(orders.dataDir, 'config'),
      dataDir: orders.dataDir,
      cacheDir: orders.cacheDir,
      buildCacheDir: process.env.BUILD_CACHE_PATH ?? orders.cacheDir,
      logDir: join(orders.dataDir, 'logs'),
      logLevel: 'warn',
      prefixes: ['!'],
      owners: [orders.owner.userId],
      pluginFolders: [],
      disabledPlugins: [],
      presets: {},
      presetPlace: (plugin, key) => `${plugin}.${key}`,
      env: {},
    },
    plugins: [scriptedModel(orders.delayMs), effectTools(orders.effects, orders.delayMs)],
    only: ['confirm', 'tasks', 'campaign-llm', 'effects'],
    driver: deadly(
      createFileDriver({ root: join(orders.dataDir, 'documents'), journals: orders.dataDir, clock, log: quiet }),
    ),
  },
  orders.machine,
);
await host.resolve(SettingsCatalog).set('tasks', 'stepDelayMs', '0', orders.owner);
counting = true;
say('ready');
