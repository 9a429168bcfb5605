import { PassThrough } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { createHost } from '@cinnabar/core';
import { type LocalDiscord, startLocalDiscord } from '@cinnabar/local-discord';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { useFolder } from '../plugins/support/folder.js';

describe('a start while Discord is away', () => {
  const folder = useFolder();

  async function begin(prepare: (discord: LocalDiscord) => void) {
    const clock = createManualClock();
    const discord = await startLocalDiscord({ clock });
    const you = discord.createUser({ name: 'you' });
    const application = discord.createApplication({ name: 'Cinnabar', owner: you });
    discord.createGuild({ name: 'Night City', owner: you }).invite(application);
    prepare(discord);
    const stream = new PassThrough();
    const host = createHost({
      clock,
      terminal: { stream, level: 'warn' },
      config: {
        token: application.token,
        discordApi: discord.api,
        root: process.cwd(),
        botName: undefined,
        configDir: folder.at('config'),
        dataDir: folder.at('data'),
        cacheDir: folder.at('cache'),
        buildCacheDir: folder.at('cache'),
        logDir: folder.at('logs'),
        logLevel: 'info',
        prefixes: ['!'],
        owners: [you.id],
        pluginFolders: [],
        disabledPlugins: [],
        presets: {},
        presetPlace: (plugin, key) => `${plugin}.${key}`,
        env: {},
      },
      only: [],
    });
    const started = host.start(application.token).then(
      () => 'started',
      (error: Error) => error.message,
    );
    const asked = () => discord.requests.of('GET', '/gateway/bot').length + discord.connections.attempts.length;
    /** Requests to Discord before the clock moves take real time. */
    const quiet = async () => {
      let last = -1;
      for (let same = 0; same < 4; ) {
        await wait(1);
        same = asked() === last ? same + 1 : 0;
        last = asked();
      }
    };
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        clock.advance(1_000);
        await quiet();
      }
    };
    while (asked() === 0) await wait(1);
    await pass(5);
    return {
      discord,
      host,
      started,
      pass,
      terminal: () => String(stream.read() ?? ''),
      async [Symbol.asyncDispose]() {
        await host.stop();
        await discord.close();
      },
    };
  }

  const ways: readonly (readonly [name: string, prepare: (discord: LocalDiscord) => void, words: RegExp])[] = [
    [
      'its API answers 503',
      ({ faults }) => faults.rest.fail(503, { route: '/gateway/bot', times: Number.POSITIVE_INFINITY }),
      /Discord: not ready since 2026-01-01 00:00:00 \(503 .*\); trying again in [\d.]+ s/,
    ],
    [
      'its API cannot be reached',
      ({ faults }) => faults.rest.drop({ route: '/gateway/bot', times: Number.POSITIVE_INFINITY }),
      /Discord: not ready since 2026-01-01 00:00:00 \(.+\); trying again in [\d.]+ s/,
    ],
    [
      'its gateway refuses',
      ({ faults }) => {
        faults.gateway.refuseConnections = Number.POSITIVE_INFINITY;
      },
      /Discord: not ready since 2026-01-01 00:00:00 \(code 1006: .*503\); trying again in [\d.]+ s/,
    ],
  ];
  for (const [name, prepare, words] of ways) {
    it(`waits with a message and starts when it is back: ${name}`, async () => {
      await using bot = await begin(prepare);
      expect(bot.terminal()).to.match(words);
      bot.discord.faults.clear();
      await bot.pass(10);
      expect(await bot.started).to.equal('started');
      expect(bot.terminal()).to.include('Discord: ready again after');
      expect(bot.discord.connections.open.size).to.equal(1);
    });

    it(`can be stopped: ${name}`, async () => {
      await using bot = await begin(prepare);
      await bot.host.stop();
      expect(await bot.started).to.include('the bot was stopped before it was ready');
      expect(bot.discord.connections.open.size).to.equal(0);
    });
  }

  it('does not wait for what waiting cannot mend', async () => {
    await using bot = await begin(({ faults }) => faults.rest.fail(404, { route: '/gateway/bot' }));
    expect(await bot.started).to.include('its API answers 404 to GET /gateway/bot. Check DISCORD_API.');
  });
});
