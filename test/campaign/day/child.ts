/**
 * A bot of the campaign `day`: `node child.js '<Orders as JSON>'`. The parent moves its clock over the IPC channel, and the bot confirms each move once it is
 * idle. The parent ends it with SIGKILL.
 */
import { subscribe } from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createHost } from '@cinnabar/core';
import { definePlugin, z } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';

/** The parameters of a process. */
export interface Orders {
  readonly discordApi: string;
  readonly token: string;
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly prefix: string;
  readonly plugins: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Global settings by plugin. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The channel in which `post_notice` posts. */
  readonly board: string;
  /** Start time on the campaign's clock. */
  readonly startsAt: number;
  /** Requests to this address may stay open while the bot is idle, because agents take time. */
  readonly patientWith: string;
}

const moveSchema = z.object({ advanceMs: z.number() });

/** Number of consecutive rounds of real time without activity: a response may take a few turns of the event loop to cause the next request. */
const QUIET_ROUNDS = 4;
/** Node's names of the resources that read and write files. */
const FILE_KINDS: ReadonlySet<string> = new Set(['FSReqPromise', 'FSReqCallback', 'CloseReq']);

const orders: Orders = JSON.parse(process.argv[2] ?? '{}');
const clock = createManualClock(orders.startsAt);

/** The only tool with a countable effect: a message in the channel for notices. */
const board = definePlugin({
  manifest: { id: 'board', version: '1.0.0', description: 'A notice board' },
  setup({ tool, client }) {
    tool({
      name: 'post_notice',
      description: 'Posts a notice on the board.',
      risk: 'write',
      input: z.object({ notice: z.string() }),
      present: {
        sentence: ({ notice }) => `I'll post ${notice} on the board`,
        success: ({ notice }) => `📌 Posted ${notice}.`,
        cancelled: ({ notice }) => `Cancelled posting ${notice}.`,
      },
      async run({ notice }) {
        const channel = await client.channels.fetch(orders.board);
        if (channel?.isSendable() !== true) throw new Error('there is no board');
        await channel.send(`📌 ${notice}`);
      },
    });
  },
});

const rest = watchWork();
const host = createHost({
  clock,
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
    logLevel: 'debug',
    prefixes: [orders.prefix],
    owners: [],
    pluginFolders: [],
    monitoring: undefined,
    disabledPlugins: [],
    presets: orders.settings,
    presetPlace: (plugin, key) => `${plugin}.${key}`,
    env: orders.env,
  },
  plugins: [board],
  only: [...orders.plugins, 'board'],
});
process.on('disconnect', () => process.exit(1));
process.on('message', (message) => {
  clock.advance(moveSchema.parse(message).advanceMs);
  void rest().then((moved) => process.send?.({ moved }));
});
const { problems } = await host.start(orders.token);
for (const { plugin, problem } of problems) writeSync(2, `${plugin}: ${problem}\n`);
process.send?.({ ready: true });

/** @returns a function that resolves when the bot only waits for the clock, with whether there was other work */
function watchWork(): () => Promise<boolean> {
  const open = new Set<object>();
  let activity = 0;
  const requestOf = (message: unknown) =>
    typeof message === 'object' && message !== null && 'request' in message && typeof message.request === 'object'
      ? (message.request ?? undefined)
      : undefined;
  const isPatient = (request: object) => 'origin' in request && String(request.origin) === orders.patientWith;
  subscribe('undici:request:create', (message) => {
    const request = requestOf(message);
    activity += 1;
    if (request !== undefined && !isPatient(request)) open.add(request);
  });
  const onEnd = (message: unknown) => {
    activity += 1;
    const request = requestOf(message);
    if (request !== undefined) open.delete(request);
  };
  for (const end of ['trailers', 'error']) subscribe(`undici:request:${end}`, onEnd);
  subscribe('undici:request:headers', () => {
    activity += 1;
  });
  const isBusy = () => open.size > 0 || process.getActiveResourcesInfo().some((kind) => FILE_KINDS.has(kind));
  let seen = 0;
  return async () => {
    let moved = false;
    for (let quiet = 0; quiet < QUIET_ROUNDS; ) {
      await wait(1);
      const isQuiet = !isBusy() && activity === seen;
      moved ||= !isQuiet;
      seen = activity;
      quiet = isQuiet ? quiet + 1 : 0;
    }
    return moved;
  };
}
