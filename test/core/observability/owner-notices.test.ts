import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMemoryDriver, createTestHost, type TestHost, type TestWorld } from '@cinnabar/core/testing';
import { type LocalUser, startLocalDiscord } from '@cinnabar/local-discord';
import { definePlugin, OwnerNotices, Plugins } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { writtenIn } from '../../support/data.js';
import { leaveLocked, makeFolder } from '../../support/folder.js';
import { testPlugin } from '../plugins/support/plugins.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A plugin that raises the alerts in members' messages: `kind: text`. */
const watchman = definePlugin({
  manifest: { id: 'watchman', version: '1.0.0', description: 'Warns', intents: ['GuildMessages', 'MessageContent'] },
  inject: { notices: OwnerNotices },
  setup({ on, services }) {
    on('messageCreate', ({ content, author, guildId }) => {
      if (author.bot || guildId === null) return;
      if (content === 'fail') throw new Error('boom');
      const [kind = '', text = ''] = content.split(': ');
      services.notices.alert({ kind, text, remedy: 'Do something.' });
    });
  },
});

/** The messages to the owner of the bot so far. */
function received(host: TestHost): readonly string[] {
  return host.you.openDm(host.application).messages.map(({ content }) => content);
}

async function say(host: TestHost, ...lines: readonly string[]): Promise<void> {
  for (const line of lines) host.alice.say(host.general, line);
  await host.settled();
}

/** A world whose bot belongs to a team. */
async function createTeamWorld(): Promise<TestWorld> {
  const clock = createManualClock();
  const discord = await startLocalDiscord({ clock });
  const [you, bob] = [discord.createUser({ name: 'you' }), discord.createUser({ name: 'bob' })];
  const team = { name: 'Two', members: [you, bob] };
  const application = discord.createApplication({ name: 'Cinnabar', owner: you, team });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  const alice = discord.createUser({ name: 'alice' });
  guild.join(alice);
  const general = guild.createChannel({ name: 'general' });
  return { clock, discord, application, guild, general, you, alice, bob };
}

describe("notices to the bot's owner", () => {
  it('report a damaged document, which stops nothing', async () => {
    const plugin = testPlugin('quiet');
    await using first = await createTestHost({ plugins: [plugin] });
    const { dataDir, guild } = first;
    await first.resolve(Plugins).disable(guild.id, 'quiet');
    await first.stop();
    const files = readdirSync(join(dataDir, 'documents'), { recursive: true, encoding: 'utf8' });
    const [file] = files.filter((name) => name.endsWith(`${guild.id}.json`));
    expect(file, files.join('\n')).to.be.a('string');
    writeFileSync(join(dataDir, 'documents', file ?? ''), '{"version": 1, "da');

    await using second = await createTestHost({ plugins: [plugin], world: first, dataDir });
    expect(second.resolve(Plugins).enabledIn(guild.id, 'quiet')).to.equal(false);
    await second.advance(5_000);
    const notice = await second.discord.expectMessage({ author: second.bot, content: /was damaged/ });
    expect(notice.channel.recipients).to.include(second.you);
  });

  it('send a burst of alerts as one message, with what to do', async () => {
    await using host = await createTestHost({ plugins: [watchman] });
    await say(host, 'disk-full: The disk is full.', 'disk-full: The disk is full.', 'disk-full: The disk is full.');
    await say(host, 'model-resting: The model a failed.', 'model-resting: The model b failed.');
    await host.advance(5_000);
    expect(received(host)).to.deep.equal([
      '⚠️ The disk is full. Do something. (and 2 more times)\n⚠️ The model a failed. Do something.\nThe model b failed. Do something.',
    ]);
  });

  it('are written for each owner in the language of each', async () => {
    const world = await createTeamWorld();
    await using host = await createTestHost({ plugins: ['admin', watchman], world });
    const heard = (user: LocalUser) => user.openDm(world.application).messages.map(({ content }) => content);
    world.you.say(world.you.openDm(world.application), '!language me de');
    await say(host, ...Array.from({ length: 11 }, () => 'fail'));
    await host.advance(5_000);
    const server = host.guild.id;
    expect(heard(world.bob)).to.deep.equal([
      `⚠️ The plugin watchman failed 10 times within a minute in the server ${server}; its listeners pause there for a minute. The error log has the reason; until it is mended, \`!plugin disable watchman\` keeps it quiet.`,
    ]);
    expect(heard(world.you).slice(-1)).to.deep.equal([
      `⚠️ Das Plugin watchman ist auf dem Server ${server} in einer Minute 10-mal gescheitert; seine Listener pausieren dort eine Minute. Der Grund steht im Fehlerprotokoll; bis das behoben ist, hält \`!plugin disable watchman\` es ruhig.`,
    ]);
  });

  it('send each kind at most once an hour, and then what came in between', async () => {
    await using host = await createTestHost({ plugins: [watchman] });
    await say(host, 'disk-full: Full.');
    await host.advance(5_000);
    await say(host, 'disk-full: Full.', 'other: Something else.');
    await host.advance(5_000);
    await say(host, ...['1', '2', '3', '4'].map((number) => `disk-full: Still full ${number}.`));
    await host.advance(HOUR - 10_000);
    expect(received(host)).to.deep.equal(['⚠️ Full. Do something.', '⚠️ Something else. Do something.']);
    await host.advance(10_000);
    const at = `(<t:${Date.UTC(2026, 0, 1, 0, 0, 5) / 1000}:f>)`;
    const after = `(<t:${Date.UTC(2026, 0, 1, 0, 0, 10) / 1000}:f>)`;
    expect(received(host).slice(2)).to.deep.equal([
      `⚠️ Full. ${at} Do something.\nStill full 1. ${after} Do something.\nStill full 2. ${after} Do something.\n… and 2 more times of this kind: the log has them.`,
    ]);
    await host.advance(HOUR);
    expect(received(host)).to.have.length(3);
  });

  it('wait until Discord can be reached, and then say when it was', async () => {
    await using host = await createTestHost({ plugins: [watchman] });
    host.discord.faults.rest.fail(503, { method: 'POST', times: Number.POSITIVE_INFINITY });
    await say(host, 'gateway-away: The gateway was away.');
    // discord.js itself tries four times before it gives up.
    await host.advance(5_000);
    expect(received(host)).to.deep.equal([]);
    host.discord.faults.clear();
    await host.advance(MINUTE);
    expect(received(host)).to.deep.equal([
      `⚠️ The gateway was away. (<t:${Date.UTC(2026, 0, 1) / 1000}:f>) Do something.`,
    ]);
    await host.advance(HOUR);
    expect(received(host)).to.have.length(1);
  });

  it('reach an owner later who could not be reached when another was, over a restart too, and none of them twice', async () => {
    using folder = makeFolder();
    const world = await createTeamWorld();
    const { discord, application, you, bob } = world;
    await using first = await createTestHost({ plugins: [watchman], world, dataDir: folder.path });
    const heard = (user: LocalUser) => user.openDm(application).messages.map(({ content }) => content);
    const route = new RegExp(`/channels/${bob.openDm(application).id}/messages`);
    discord.faults.rest.fail(503, { method: 'POST', route, times: Number.POSITIVE_INFINITY });
    await say(first, 'disk-full: Full.');
    await first.advance(5_000);
    await first.advance(MINUTE);
    expect([heard(you).length, heard(bob).length]).to.deep.equal([1, 0]);
    await first.stop();
    await using second = await createTestHost({ plugins: [watchman], world, dataDir: folder.path });
    discord.faults.clear();
    for (let minute = 0; minute < 12; minute += 1) await second.advance(MINUTE);
    expect(heard(bob)).to.deep.equal([`⚠️ Full. (<t:${Date.UTC(2026, 0, 1) / 1000}:f>) Do something.`]);
    await second.advance(HOUR);
    expect([heard(you).length, heard(bob).length]).to.deep.equal([1, 1]);
    await second.stop();
    await discord.close();
  });

  for (const [who, createWorld] of [
    ['the only owner', async () => undefined],
    ['one of several owners', createTeamWorld],
  ] as const) {
    it(`reach ${who} once whose message arrived although its response and the search for it were lost`, async () => {
      const world = await createWorld();
      await using host = await createTestHost({ plugins: [watchman], ...(world === undefined ? {} : { world }) });
      const { discord, application, you, bob } = host;
      const channel = (world === undefined ? you : bob).openDm(application);
      const route = new RegExp(`/channels/${channel.id}/messages`);
      discord.faults.rest.fail(503, { method: 'POST', route, afterEffect: true, times: Number.POSITIVE_INFINITY });
      discord.faults.rest.fail(503, { method: 'GET', route, times: Number.POSITIVE_INFINITY });
      await say(host, 'disk-full: Full.');
      await host.advance(5_000);
      await say(host, 'disk-full: Full again.');
      discord.faults.clear();
      for (let minute = 0; minute < 12; minute += 1) await host.advance(MINUTE);
      const heard = () => channel.messages.map(({ content }) => content);
      expect(heard()).to.deep.equal(['⚠️ Full. Do something.']);
      await host.advance(HOUR);
      expect(heard()).to.have.length(2);
      expect(heard()[1]).to.include('Full again.');
      await host.stop();
      await world?.discord.close();
    });
  }

  it('are stored without secrets, also for an owner who could not be reached', async () => {
    const world = await createTeamWorld();
    const { discord, application, bob } = world;
    await using host = await createTestHost({ plugins: [watchman], world });
    const secret = 'sk-0123456789abcdefghij';
    const route = new RegExp(`/channels/${bob.openDm(application).id}/messages`);
    discord.faults.rest.fail(503, { method: 'POST', route, times: Number.POSITIVE_INFINITY });
    await say(host, `disk-full: Refused ${secret}.`);
    expect(await writtenIn(host.dataDir))
      .to.include('Refused')
      .and.not.include(secret);
    await host.advance(5_000);
    expect(await writtenIn(host.dataDir))
      .to.match(/"undelivered":\s*\[\s*\{/)
      .and.not.include(secret);
    await host.stop();
    await discord.close();
  });

  it('report a start after a crash, once an hour in a crash loop', async () => {
    using folder = makeFolder();
    await using world = await createTestHost({ plugins: [] });
    await world.stop();
    const dataDir = folder.path;
    for (let start = 0; start < 4; start++) {
      leaveLocked(dataDir);
      await using host = await createTestHost({ plugins: [], world, dataDir });
      await host.advance(5_000);
      await host.stop();
    }
    expect(received(world)).to.have.length(1);
    expect(received(world)[0]).to.match(/^⚠️ The bot was started again after a run that did not stop cleanly/);

    await using clean = await createTestHost({ plugins: [], world, dataDir });
    await clean.advance(HOUR);
    expect(received(world)).to.have.length(2);
    expect(received(world)[1]).to.match(/^⚠️ The bot was started again .* \(and 2 more times\)$/);
    await clean.stop();
    await using again = await createTestHost({ plugins: [], world, dataDir });
    await again.advance(2 * HOUR);
    expect(received(world)).to.have.length(2);
  });

  it('report a plugin whose listeners were suspended', async () => {
    await using host = await createTestHost({ plugins: [watchman] });
    await say(host, ...Array.from({ length: 10 }, () => 'fail'));
    await host.advance(5_000);
    expect(received(host)).to.have.length(1);
    expect(received(host)[0]).to.match(/^⚠️ The plugin watchman failed 10 times within a minute in the server \d+/);
  });

  it('are sent once an hour too while nothing can be saved', async () => {
    const driver = createMemoryDriver();
    let attempts = 0;
    const failing = {
      ...driver,
      async write() {
        attempts += 1;
        throw new Error('ENOSPC: no space left on device');
      },
    };
    await using host = await createTestHost({ plugins: [watchman], driver: failing });
    const before = attempts;
    await say(host, 'disk-full: Full.');
    await host.advance(5_000);
    await say(host, 'disk-full: Full.');
    await host.advance(MINUTE);
    expect(received(host)).to.deep.equal(['⚠️ Full. Do something.']);
    expect(attempts - before).to.be.at.most(4);
  });

  it('report a gateway that was away for more than five minutes, while it still is when REST answers', async () => {
    await using host = await createTestHost({ plugins: [] });
    const lost = new Promise((resolve) => host.client.once('shardReconnecting', resolve));
    host.discord.faults.gateway.refuseConnections = Number.POSITIVE_INFINITY;
    host.discord.faults.gateway.dropSockets();
    await lost;
    await host.advance(4 * MINUTE);
    expect(received(host)).to.deep.equal([]);
    await host.advance(MINUTE);
    await host.advance(5_000);
    expect(received(host)).to.have.length(1);
    expect(received(host)[0]).to.match(
      /^⚠️ The bot was without a connection to Discord's gateway for more than 5 minutes, from <t:\d+:f> on \(last close: .*\)\. .*discordstatus/,
    );
    await host.advance(2 * HOUR);
    expect(received(host)).to.have.length(1);
  });
});
