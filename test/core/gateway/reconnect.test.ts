import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { createTestHost, type TestHost, type TestWorld } from '@cinnabar/core/testing';
import { type PrivilegedIntent, startLocalDiscord } from '@cinnabar/local-discord';
import { definePlugin } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { readLogs } from '../../support/log-files.js';
import { gatewayOn, logIn } from './harness.js';

/** A plugin that counts its events. */
function counting() {
  const heard: string[] = [];
  const ran: string[] = [];
  const plugin = definePlugin({
    manifest: {
      id: 'counter',
      version: '1.0.0',
      description: 'Counts',
      intents: ['GuildMessages', 'MessageContent'],
    },
    setup({ on, command }) {
      on('messageCreate', ({ content }) => void heard.push(content));
      command({
        name: 'count',
        description: 'Counts',
        surface: 'slash',
        run(context) {
          ran.push(context.channel.id);
          return context.reply('Counted.');
        },
      });
    },
  });
  return { plugin, heard, ran };
}

async function createWorld(has: {
  shards?: number;
  privilegedIntents?: readonly PrivilegedIntent[];
}): Promise<TestWorld> {
  const clock = createManualClock();
  const discord = await startLocalDiscord({ clock, shards: has.shards ?? 1 });
  const [you, alice, bob] = [
    discord.createUser({ name: 'you' }),
    discord.createUser({ name: 'alice' }),
    discord.createUser({ name: 'bob' }),
  ];
  const { privilegedIntents } = has;
  const application = discord.createApplication({
    name: 'Cinnabar',
    owner: you,
    ...(privilegedIntents && { privilegedIntents }),
  });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  guild.join(alice);
  return { clock, discord, you, alice, bob, application, guild, general: guild.createChannel({ name: 'general' }) };
}

/** Waits until the sockets are idle. */
async function quiet({ discord }: TestHost): Promise<void> {
  const traces = () => `${discord.connections.attempts.length}/${discord.connections.open.size}`;
  let last = '';
  for (let same = 0; same < 3; ) {
    await wait(1);
    const now = traces();
    same = now === last ? same + 1 : 0;
    last = now;
  }
}

async function pass(host: TestHost, seconds: number): Promise<void> {
  await quiet(host);
  for (let second = 0; second < seconds; second++) {
    host.clock.advance(1_000);
    await quiet(host);
  }
}

describe('a connection to the gateway that is lost', () => {
  it('is tried again in growing steps while Discord refuses, and is one connection afterwards', async () => {
    const { plugin, ran } = counting();
    await using host = await createTestHost({ plugins: [plugin] });
    const { connections, faults } = host.discord;
    connections.reset();
    faults.gateway.refuseConnections = Number.POSITIVE_INFINITY;
    faults.gateway.dropSockets();
    await pass(host, 60);
    const pauses = connections.attempts.map(({ at }, index) => at - (connections.attempts[index - 1]?.at ?? at));
    expect(pauses.length).to.be.within(6, 8);
    for (const [index, longest] of [0, 1, 2, 4, 8, 16, 32].entries()) {
      // Time advances in steps of a second.
      if (index < pauses.length) expect(pauses[index]).to.be.within((longest / 2) * 1_000, (longest + 1) * 1_000);
    }
    faults.clear();
    await pass(host, 60);
    expect(connections.open.size).to.equal(1);
    expect(connections.attempts.at(-1)).to.deep.include({ asked: 'resume', granted: true });
    await host.alice.slash(host.general, 'count').answered();
    expect(ran).to.have.length(1);
  });

  it('is resumed each time, however often it drops, and loses no event', async () => {
    const { plugin, heard } = counting();
    await using host = await createTestHost({ plugins: [plugin] });
    const { connections, faults } = host.discord;
    connections.reset();
    const said = Array.from({ length: 90 }, (_, index) => `${index}`);
    for (const text of said) {
      if (Number(text) % 2 === 0) faults.gateway.dropSockets();
      host.alice.say(host.general, text);
      await pass(host, 1);
    }
    await pass(host, 10);
    await host.settled();
    expect(heard).to.deep.equal(said);
    expect(connections.attempts.every(({ asked, granted }) => asked === 'resume' && granted === true)).to.equal(true);
    expect(connections.open.size).to.equal(1);
  });

  it('is opened again although a listener of a plugin throws at each step', async () => {
    const { plugin, heard } = counting();
    await using host = await createTestHost({ plugins: [plugin] });
    const events = ['shardReconnecting', 'shardResume', 'shardReady'] as const;
    const fail = () => {
      throw new Error('a bare listener fails');
    };
    const uncaught: unknown[] = [];
    const collect = (error: unknown) => uncaught.push(error);
    const before = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', collect);
    try {
      for (const event of events) host.client.on(event, fail);
      host.discord.faults.gateway.dropSockets();
      await pass(host, 5);
      host.alice.say(host.general, 'still there?');
      await host.settled();
    } finally {
      for (const event of events) host.client.off(event, fail);
      process.off('unhandledRejection', collect);
      for (const listener of before) process.on('unhandledRejection', listener);
    }
    expect(heard).to.deep.equal(['still there?']);
    expect(host.discord.connections.open.size).to.equal(1);
    expect(uncaught.map(String)).to.include('Error: a bare listener fails');
  });

  it('leaves the other shards alone', async () => {
    const world = await createWorld({ shards: 4 });
    await using discord = world.discord;
    await using host = await createTestHost({ plugins: [counting().plugin], world });
    expect(discord.connections.open.size).to.equal(4);
    discord.connections.reset();
    discord.faults.gateway.closeSockets(4000, { shard: 2 });
    await pass(host, 30);
    expect(discord.connections.attempts.map(({ shard, asked }) => [shard, asked])).to.deep.equal([[2, 'resume']]);
    expect(discord.connections.open.size).to.equal(4);
  });

  it('is reported with code, reason, and since when the bot is not ready', async () => {
    await using host = await createTestHost({ plugins: [counting().plugin], logFiles: true });
    host.discord.faults.gateway.closeOnConnect = { code: 4000, reason: 'Maintenance', times: 4 };
    host.discord.faults.gateway.closeSockets(4000, { reason: 'Maintenance begins' });
    await pass(host, 30);
    const entries = await readLogs(host);
    const closes = entries.filter(({ message }) => message === 'a gateway connection was closed');
    expect(closes.map(({ code, reason }) => `${code} ${reason}`)).to.deep.equal([
      '4000 Maintenance begins',
      ...Array.from({ length: 4 }, () => '4000 Maintenance'),
    ]);
    const warnings = entries.filter(({ level, component }) => level === 'warn' && component === 'gateway');
    expect(warnings.map(({ message }) => message.replace(/[\d.]+ s/g, 'N s'))).to.deep.equal([
      'Discord: not ready since 2026-01-01 00:00:00 (code 4000: Maintenance); trying again in N s',
      'Discord: ready again after N s',
    ]);
  });

  it('does not end the process when the bot stops while it connects', async () => {
    const host = await createTestHost({ plugins: [counting().plugin] });
    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    process.on('uncaughtException', onError);
    try {
      host.discord.faults.gateway.hangConnections = 1;
      host.discord.faults.gateway.dropSockets();
      await quiet(host);
      await host[Symbol.asyncDispose]();
      await wait(5);
      expect(errors).to.deep.equal([]);
    } finally {
      process.off('uncaughtException', onError);
    }
  });

  for (const [code, remedy] of [
    [4004, /token is not valid\. Check DISCORD_TOKEN/],
    [4014, /not approved for all of these intents: .*MessageContent.*Developer Portal/],
  ] as const) {
    it(`is not tried again after ${code}: the bot ends with a sentence that says what to do`, async () => {
      await using host = await createTestHost({ plugins: [counting().plugin] });
      host.discord.connections.reset();
      host.discord.faults.gateway.closeSockets(code);
      const error = await host.ended;
      expect(error.code).to.equal('CINNABAR_GATEWAY_CLOSED');
      expect(error.message).to.include(`code ${code}`).and.to.match(remedy);
      await pass(host, 5);
      expect(host.discord.connections.attempts).to.deep.equal([]);
    });
  }

  it('goes on with the intents it had when Discord refuses those that a plugin asks for later', async () => {
    const { plugin, heard } = counting();
    const world = await createWorld({ privilegedIntents: ['MessageContent'] });
    await using _discord = world.discord;
    await using host = await createTestHost({ plugins: [plugin], world, logFiles: true });
    const doorman = definePlugin({
      manifest: { id: 'doorman', version: '1.0.0', description: 'Sees who comes', intents: ['GuildMembers'] },
      setup: ({ on }) => void on('guildMemberAdd', () => undefined),
    });
    host.plugins.add(doorman, { path: '(memory)' });
    await host.plugins.load('doorman');
    await pass(host, 30);
    host.alice.say(host.general, 'still here?');
    await host.settled();
    expect(heard).to.deep.equal(['still here?']);
    expect(host.discord.connections.open.size).to.equal(1);
    const [refusal] = (await readLogs(host)).filter(({ level }) => level === 'error');
    expect(refusal?.message).to.equal('Discord refused the intents GuildMembers; going on without them');
  });
});

describe('intents that are asked for while a session is being opened', () => {
  it('do not pass for accepted: when Discord refuses them, the bot goes on', async () => {
    const world = await createWorld({ privilegedIntents: [] });
    await using discord = world.discord;
    const alerts: string[] = [];
    const gateway = gatewayOn(discord, { clock: world.clock, onAlert: ({ kind }) => void alerts.push(kind) });
    let ended: unknown;
    void gateway.ended.then((error) => {
      ended = error;
    });
    const passUntil = async (is: () => boolean) => {
      for (let turn = 0; turn < 20_000 && !is(); turn += 1) {
        if (turn % 100 === 99) world.clock.advance(100);
        await setImmediate();
      }
      expect(is()).to.equal(true);
    };
    try {
      await logIn(gateway, world.application.token, ['Guilds']);
      const { connections } = discord;
      connections.reset();
      gateway.setIntents(['Guilds', 'GuildMessages']);
      await passUntil(() => connections.attempts.at(-1)?.asked === 'identify');
      expect(gateway.status.ready).to.equal(false);
      // Discord accepts the first session's intents, but not these.
      gateway.setIntents(['Guilds', 'GuildMessages', 'GuildPresences']);
      await passUntil(() => alerts.length > 0 || ended !== undefined);
      expect(ended).to.equal(undefined);
      expect(alerts).to.deep.equal(['intents-refused']);
      await passUntil(() => gateway.status.ready);
      expect(gateway.intents).to.have.members(['Guilds', 'GuildMessages']);
    } finally {
      await gateway.close();
    }
  });
});

describe('an interaction', () => {
  it('that is delivered twice runs its command once', async () => {
    const { plugin, ran } = counting();
    await using host = await createTestHost({ plugins: [plugin] });
    host.discord.faults.gateway.interactions.repeat = true;
    await host.alice.slash(host.general, 'count').answered();
    await host.settled();
    expect(ran).to.have.length(1);
  });

  it('without a channel is decided by its channel_id', async () => {
    const { plugin, ran } = counting();
    await using host = await createTestHost({ plugins: [plugin] });
    host.discord.faults.gateway.interactions.omitChannel = true;
    const inGuild = await host.alice.slash(host.general, 'count').answered();
    const direct = host.alice.openDm(host.application);
    const inDirect = await host.alice.slash(direct, 'count').answered();
    expect([inGuild, inDirect].map(({ response }) => response?.content)).to.deep.equal(['Counted.', 'Counted.']);
    expect(ran).to.deep.equal([host.general.id, direct.id]);
    expect(host.discord.requests.all.filter(({ path }) => path.includes('/null'))).to.deep.equal([]);
  });
});
