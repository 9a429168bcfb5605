/** The bot that is killed: `node child.js '<Orders as JSON>'`. Prints `ready` once it is logged in. */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { SettingsCatalog } from '@cinnabar/sdk';
import { type Machine, startOnMachine } from '../../machine-host.js';
import { createFastClock, type Pace } from '../fast-clock.js';

/** The parameters of a process. */
export interface Orders {
  readonly discordApi: string;
  readonly token: string;
  readonly letta: string;
  readonly dataDir: string;
  readonly machine: Machine;
  readonly cacheDir: string;
  /** Port of the MCP endpoint: the same at every start, because the Letta server stores its address. */
  readonly port: number;
  readonly pace: Pace;
  /** The actor with the right to change settings. */
  readonly admin: { readonly userId: string; readonly guildId: string; readonly channelId: string };
}

const orders: Orders = JSON.parse(process.argv[2] ?? '{}');
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
      logLevel: 'info',
      prefixes: ['!'],
      owners: [],
      pluginFolders: [],
      disabledPlugins: [],
      presets: { mcp: { listen: `127.0.0.1:${orders.port}`, callsPerMinute: 10_000 } },
      presetPlace: (plugin, key) => `${plugin}.${key}`,
      env: { LETTA_BASE_URL: orders.letta, LETTA_API_KEY: 'test-key' },
    },
    only: ['accounts', 'ai', 'confirm', 'discord-tools', 'mcp', 'relay'],
  },
  orders.machine,
);
// On the fast clock, ignored cards expire after a second.
await host.resolve(SettingsCatalog).set('confirm', 'timeLimit', '20', orders.admin);
writeSync(1, 'ready\n');
