/** The bot that is killed: `node child.js '<Orders as JSON>'`. Prints `ready` once it is logged in. */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { definePlugin, SettingsCatalog, Tools, UserError, z } from '@cinnabar/sdk';
import { type Machine, startOnMachine } from '../machine-host.js';
import { createFastClock, type Pace } from '../relay/fast-clock.js';

/** The parameters of a process. */
export interface Orders {
  readonly discordApi: string;
  readonly token: string;
  readonly dataDir: string;
  readonly machine: Machine;
  readonly cacheDir: string;
  readonly pace: Pace;
  /** A file that receives a line for each effect, written to the disk before the tool returns. */
  readonly effects: string;
  readonly timeLimitSeconds: number;
  /** Maximum delay of a tool before and after its effect, in real time. */
  readonly delayMs: number;
  /** The actor with the right to change settings. */
  readonly admin: { readonly userId: string; readonly guildId: string; readonly channelId: string };
}

const orders: Orders = JSON.parse(process.argv[2] ?? '{}');
const delay = () => wait(Math.random() * orders.delayMs);

function takeEffect(marker: string): void {
  const file = openSync(orders.effects, 'a');
  writeSync(file, `${marker}\n`);
  fsyncSync(file);
  closeSync(file);
}

/** `!act MARKER` calls a tool for the member, as a model would. */
const effects = definePlugin({
  manifest: {
    id: 'effects',
    version: '1.0.0',
    description: 'Has effects that are counted',
    intents: ['GuildMessages', 'MessageContent'],
  },
  inject: { tools: Tools },
  setup({ tool, command, services }) {
    tool({
      name: 'act',
      description: 'Does it',
      risk: 'write',
      input: z.object({ marker: z.string() }),
      present: {
        sentence: ({ marker }) => `I'll do ${marker}`,
        success: ({ marker }) => `✓ Did ${marker}.`,
        cancelled: ({ marker }) => `Cancelled ${marker}.`,
      },
      async run({ marker }) {
        await delay();
        if (marker.endsWith('-fails')) throw new UserError(`It is too late for ${marker}.`);
        takeEffect(marker);
        await delay();
      },
    });
    command({
      name: 'act',
      description: 'Asks for it',
      options: { marker: z.string() },
      async run({ actor }, { marker }) {
        await services.tools.invoke({ name: 'act', arguments: { marker }, actor, origin: 'campaign' });
      },
    });
  },
});

const host = await startOnMachine(
  {
    clock: createFastClock(orders.pace),
    config: {
      token: orders.token,
      discordApi: orders.discordApi,
      root: process.cwd(),
      botName: undefined,
      configDir: join(orders.dataDir, 'config'),
      dataDir: orders.dataDir,
      cacheDir: orders.cacheDir,
      buildCacheDir: process.env.BUILD_CACHE_PATH ?? orders.cacheDir,
      logDir: join(orders.dataDir, 'logs'),
      logLevel: 'warn',
      prefixes: ['!'],
      owners: [],
      pluginFolders: [],
      monitoring: undefined,
      disabledPlugins: [],
      presets: {},
      presetPlace: (plugin, key) => `${plugin}.${key}`,
      env: {},
    },
    plugins: [effects],
    only: ['confirm', 'effects'],
  },
  orders.machine,
);
await host.resolve(SettingsCatalog).set('confirm', 'timeLimit', String(orders.timeLimitSeconds), orders.admin);
writeSync(1, 'ready\n');
