import { createHost, loadConfig } from '@cinnabar/core';
import { createMemoryDriver } from '@cinnabar/core/testing';
import { startLocalDiscord } from '@cinnabar/local-discord';
import { definePlugin } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { type Folder, makeFolder } from '../../support/folder.js';

const PLUGINS = [
  { id: 'dice', path: '/bot/plugins/dice' },
  { id: 'dice-tower', path: '/bot/plugins/dice/tower' },
  { id: 'memory', path: '(memory)' },
];
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A bot whose plugins are said to lie in these folders, and which is handed the errors that nothing has caught. */
async function startBot(folder: Folder) {
  const clock = createManualClock();
  const discord = await startLocalDiscord({ clock });
  const [you, alice] = [discord.createUser({ name: 'you' }), discord.createUser({ name: 'alice' })];
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  guild.join(alice);
  const general = guild.createChannel({ name: 'general' });
  const logged: { readonly level: string; readonly message: string }[] = [];
  const host = createHost({
    clock,
    config: loadConfig(folder.path, { DISCORD_API: discord.api }),
    driver: createMemoryDriver(),
    logFiles: false,
    onLogEntry: (entry) => void (entry.level === 'error' && logged.push(entry)),
    only: [],
  });
  await host.start(application.token);

  const listening = new Set<string>();
  const timers = new Map<string, (task: () => void) => void>();
  for (const { id, path } of PLUGINS) {
    const plugin = definePlugin({
      manifest: { id, version: '1.0.0', description: 'Listens', intents: ['GuildMessages', 'DirectMessages'] },
      setup({ on, after }) {
        on('messageCreate', ({ guildId }) => void listening.add(`${id} ${guildId === null ? 'direct' : 'guild'}`));
        timers.set(id, (task) => void after(1, task));
      },
    });
    host.plugins.add(plugin, { path });
    await host.plugins.load(id);
  }
  const settled = async () => {
    do await discord.settled();
    while (await host.idle());
  };
  return {
    host,
    clock,
    /** The messages of what was logged as an error since the last call. */
    errors: () => logged.splice(0).map(({ message }) => message),
    /** The plugins whose listeners pause, in a server and in direct messages. */
    async suspended() {
      listening.clear();
      for (const channel of [general, alice.openDm(application)]) alice.say(channel, 'hello');
      await settled();
      const pausedIn = (place: string) => PLUGINS.map(({ id }) => id).filter((id) => !listening.has(`${id} ${place}`));
      expect(pausedIn('direct')).to.deep.equal(pausedIn('guild'));
      return pausedIn('guild');
    },
    /** What the owner was told since the last call. */
    async told() {
      const direct = you.openDm(application);
      const before = direct.messages.length;
      clock.advance(5_000);
      await settled();
      return direct.messages.slice(before).map(({ content }) => content);
    },
    /** An error without a stack, in a timer of a plugin. */
    failIn(id: string) {
      timers.get(id)?.(() => host.uncaught(bare(), 'exception'));
      clock.advance(1);
    },
    async [Symbol.asyncDispose]() {
      await host.stop();
      await discord.close();
    },
  };
}

const bare = () => Object.assign(new Error('reset by peer'), { stack: '' });

describe('an uncaught error', () => {
  let folder: Folder;
  let bot: Awaited<ReturnType<typeof startBot>>;
  before(async () => {
    folder = makeFolder();
    bot = await startBot(folder);
  });
  // What one error has suspended, counted and tracked is over an hour later.
  beforeEach(async () => {
    bot.clock.advance(HOUR_MS);
    await bot.told();
    bot.errors();
  });
  after(async () => {
    await bot[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  describe('has an origin, which', () => {
    /** What the log says about an error with this stack. */
    const logOf = (stack: string) => {
      bot.clock.advance(MINUTE_MS);
      bot.errors();
      bot.host.uncaught(Object.assign(new Error('it failed'), { stack }), 'exception');
      return bot.errors().at(-1);
    };
    const origin = (...frames: readonly string[]) =>
      logOf(`Error: at /bot/plugins/dice/fake.ts:1:1\n${frames.map((frame) => `    at ${frame}`).join('\n')}`);
    const of = (plugin: string, place: string) =>
      `${plugin}: uncaught exception at ${place}; its listeners pause for a minute`;

    it('is the first frame in a folder of a plugin, the nearest folder where one is in another', () => {
      expect(
        origin('node:net:1:2', 'roll (/bot/plugins/dice/src/roll.ts:3:7)', 'x (/bot/plugins/dice/tower/a.ts:1:1)'),
      ).to.equal(of('dice', '/bot/plugins/dice/src/roll.ts:3:7'));
      expect(origin('async Object.x [as y] (/bot/plugins/dice/tower/a.ts:1:1)')).to.equal(
        of('dice-tower', '/bot/plugins/dice/tower/a.ts:1:1'),
      );
      expect(origin('async /bot/plugins/dice/index.ts:3:7')).to.equal(of('dice', '/bot/plugins/dice/index.ts:3:7'));
      expect(origin('file:///bot/plugins/dice/index.js:3:7')).to.equal(of('dice', '/bot/plugins/dice/index.js:3:7'));
      expect(origin('x (/bot/plugins/dice/node_modules/left/index.js:1:1)')).to.equal(
        of('dice', '/bot/plugins/dice/node_modules/left/index.js:1:1'),
      );
    });

    it('is unknown when no frame is in one, whatever the message says', () => {
      const unknown = 'uncaught exception outside of any plugin; the bot goes on';
      expect(origin('x (/bot/plugins/dices/index.ts:3:7)', 'node:internal/timers:581:17')).to.equal(unknown);
      expect(origin()).to.equal(unknown);
    });

    it('is found at once although the message has a line without end', function () {
      this.timeout(2_000);
      const message = `Error: a page that a plugin has read says\n    at ${'/'.repeat(100_000)}`;
      expect(logOf(`${message}\n    at roll (/bot/plugins/dice/index.ts:3:7)`)).to.equal(
        of('dice', '/bot/plugins/dice/index.ts:3:7'),
      );
    });

    it('is looked for although an address on the stack cannot be one of this machine', () => {
      expect(
        origin('x (file://elsewhere/a.js:1:1)', 'y (file:///%E0%A4%A.js:1:1)', '/bot/plugins/dice/index.ts:3:7'),
      ).to.equal(of('dice', '/bot/plugins/dice/index.ts:3:7'));
    });

    it('is that of its cause, too', async () => {
      const cause = new Error('inner');
      cause.stack = 'Error: inner\n    at /bot/plugins/dice/index.ts:1:1';
      bot.host.uncaught(new Error('outer', { cause }), 'rejection');
      expect(await bot.suspended()).to.deep.equal(['dice']);
    });
  });

  it('suspends the plugin that began what failed, when the stack names none', async () => {
    // From the first one of unknown origin on, at the latest, Node tracks the creators of timers.
    bot.host.uncaught(bare(), 'exception');
    await bot.told();
    bot.errors();
    bot.failIn('memory');
    expect(await bot.suspended()).to.deep.equal(['memory']);
    expect(bot.errors()).to.deep.equal(['memory: uncaught exception; its listeners pause for a minute']);
    expect((await bot.told()).join()).to.include(
      'The plugin memory threw an error outside of its handlers (reset by peer); its listeners pause for a minute everywhere.',
    );
    bot.clock.advance(MINUTE_MS);
    expect(await bot.suspended()).to.deep.equal([]);
  });

  it('of unknown origin has the origin of the next one tracked, for an hour', async () => {
    const isAlwaysTracked = Number.parseInt(process.versions.node, 10) >= 24;
    bot.failIn('memory');
    expect(await bot.suspended()).to.deep.equal(isAlwaysTracked ? ['memory'] : []);
    bot.clock.advance(MINUTE_MS);
    bot.failIn('memory');
    expect(await bot.suspended()).to.deep.equal(['memory']);
    bot.clock.advance(HOUR_MS);
    bot.failIn('memory');
    expect(await bot.suspended()).to.deep.equal(isAlwaysTracked ? ['memory'] : []);
  });

  it('of no plugin is logged, and suspends nothing', async () => {
    bot.host.uncaught('no error at all', 'rejection');
    expect(await bot.suspended()).to.deep.equal([]);
    expect(bot.errors()).to.deep.equal(['uncaught rejection outside of any plugin; the bot goes on']);
  });

  it('fills no disk when it comes a thousand times a second', () => {
    for (let n = 0; n < 1_000; n++) bot.host.uncaught(new Error('again'), 'exception');
    expect(bot.errors().length).to.equal(10);
    bot.clock.advance(MINUTE_MS);
    bot.host.uncaught(new Error('again'), 'exception');
    expect(bot.errors()).to.deep.equal([
      'host: 990 more errors that nothing caught within a minute',
      'uncaught exception outside of any plugin; the bot goes on',
    ]);
  });
});
