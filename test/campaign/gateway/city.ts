import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createHost, type Host } from '@cinnabar/core';
import { type LocalChannel, type LocalDiscord, type LocalUser, startLocalDiscord } from '@cinnabar/local-discord';
import { definePlugin, z } from '@cinnabar/sdk';
import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
import { Status } from 'discord.js';
import type { Dice } from '../confirm/dice.js';
import { GATEWAY_HOST, type NameServer } from './names.js';
import { HEARTBEAT_MS } from './ways.js';

const STEP_MS = 1_000;
const QUIET_TURNS = 3;
const GUILDS_PER_SHARD = 2;

/** The real host on a local Discord with one or more shards, and the events that reached its handlers. */
export interface City extends AsyncDisposable {
  readonly discord: LocalDiscord;
  readonly clock: ManualClock;
  readonly host: Host;
  readonly shards: number;
  /** One channel in each guild; the guilds are distributed over all shards. */
  readonly channels: readonly LocalChannel[];
  readonly alice: LocalUser;
  /** How often each message and each slash command was handled, by its number. */
  readonly handled: ReadonlyMap<number, number>;
  shardOf(channel: LocalChannel): number;
  /** Resolves when the bot has logged in. */
  readonly started: Promise<void>;
  /** Whether every shard is ready, with one socket each. */
  whole(): boolean;
  /** Advances the time in steps of at most a second, each with its consequences; `during` is called before each step. */
  pass(ms: number, during?: () => void): Promise<void>;
}

/** @param before called after the local Discord has started and before the bot has */
export async function openCity(
  shards: number,
  names: NameServer,
  dice: Dice,
  before: (discord: LocalDiscord) => void = () => undefined,
): Promise<City> {
  const clock = createManualClock();
  const dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-campaign-gateway-'));
  const discord = await startLocalDiscord({
    clock,
    shards,
    gatewayHost: GATEWAY_HOST,
    heartbeatIntervalMs: HEARTBEAT_MS,
  });
  discord.requests.enabled = false;
  const you = discord.createUser({ name: 'you' });
  const alice = discord.createUser({ name: 'alice' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const channels = Array.from({ length: GUILDS_PER_SHARD * shards }, (_, index) => {
    // A guild's shard depends on the millisecond in its id.
    clock.advance(1);
    const guild = discord.createGuild({ name: `Guild ${index}`, owner: you });
    guild.invite(application);
    guild.join(alice);
    return guild.createChannel({ name: 'general' });
  });

  const handled = new Map<number, number>();
  const count = (event: number) => handled.set(event, (handled.get(event) ?? 0) + 1);
  const counter = definePlugin({
    manifest: {
      id: 'counter',
      version: '1.0.0',
      description: 'Counts what it hears',
      intents: ['GuildMessages', 'MessageContent'],
    },
    setup({ command, on }) {
      on('messageCreate', ({ content }) => {
        if (/^\d+$/.test(content)) count(Number(content));
      });
      command({
        name: 'count',
        description: 'Counts',
        surface: 'slash',
        options: { event: z.number().int() },
        run(context, { event }) {
          count(event);
          return context.reply('Counted.');
        },
      });
    },
  });
  before(discord);
  const host = createHost({
    clock,
    random: { next: dice.next, id: () => String(dice.between(1, 2 ** 31)) },
    config: {
      token: application.token,
      discordApi: discord.api,
      root: process.cwd(),
      botName: undefined,
      configDir: join(dataDir, 'config'),
      dataDir,
      cacheDir: join(dataDir, 'cache'),
      buildCacheDir: process.env.BUILD_CACHE_PATH ?? join(dataDir, 'cache'),
      logDir: join(dataDir, 'logs'),
      logLevel: 'warn',
      prefixes: ['!'],
      owners: [you.id],
      pluginFolders: [],
      disabledPlugins: [],
      presets: {},
      presetPlace: (plugin, key) => `${plugin}.${key}`,
      env: {},
    },
    plugins: [counter],
    only: ['counter'],
  });
  const start = async () => {
    await host.start(application.token);
  };

  const traces = () =>
    [
      discord.connections.attempts.length,
      discord.connections.open.size,
      names.lookups,
      handled.size,
      host.client.ws.shards.map(({ status }) => status).join(),
    ].join('/');
  /** Resolves when the sockets are idle. */
  const quiet = async () => {
    let last = '';
    for (let same = 0; same < QUIET_TURNS; ) {
      await wait(1);
      const now = traces();
      same = now === last ? same + 1 : 0;
      last = now;
    }
  };

  return {
    discord,
    clock,
    host,
    shards,
    channels,
    alice,
    handled,
    shardOf: ({ guild }) => Number((BigInt(guild?.id ?? 0) >> 22n) % BigInt(shards)),
    started: start(),
    whole: () =>
      host.client.isReady() &&
      host.client.ws.shards.every(({ status }) => status === Status.Ready) &&
      discord.connections.open.size === shards,
    async pass(ms, during) {
      await quiet();
      for (let left = ms; left > 0; left -= STEP_MS) {
        during?.();
        clock.advance(Math.min(left, STEP_MS));
        await quiet();
      }
    },
    async [Symbol.asyncDispose]() {
      await host.stop();
      await discord.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
