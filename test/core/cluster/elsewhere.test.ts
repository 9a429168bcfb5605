import type { LocalChannel, LocalMessage } from '@cinnabar/local-discord';
import {
  type Actor,
  definePlugin,
  Identities,
  Ledger,
  type Outcome,
  Provenance,
  ToolPolicies,
  Tools,
  z,
} from '@cinnabar/sdk';
import { expect } from 'chai';
import { describePostgres } from '../../support/postgres.js';
import { createClusterWorld } from './harness.js';

const GROUPS = 2;

/** The servers in which a letter was awaited. */
const letters: string[] = [];

/** The servers of the processes that searched for a place. */
const looked: string[] = [];

/** Tools that take effect in the server of an argument. */
const post = definePlugin({
  manifest: { id: 'post', version: '1.0.0', description: 'Tools for tests', intents: ['Guilds'] },
  setup({ tool, client }) {
    const nameOf = (guildId: string) => client.guilds.cache.get(guildId)?.name ?? 'not served here';
    const there = {
      description: 'Does something in a server',
      input: z.object({ guildId: z.string() }),
      place: ({ guildId }: { guildId: string }) => ({ guildId }),
    };
    tool({
      ...there,
      name: 'post_letter',
      risk: 'write',
      present: { sentence: ({ guildId }) => `I'll post it to ${nameOf(guildId)}` },
      run: ({ guildId }) => `posted to ${nameOf(guildId)}`,
    });
    tool({
      description: 'Reads at a place that there is not',
      input: z.object({}),
      name: 'read_nowhere',
      risk: 'read',
      place() {
        looked.push(...client.guilds.cache.keys());
        return { guildId: null, channelId: '1' };
      },
      run: () => 'nothing',
    });
    tool({
      ...there,
      name: 'await_letter',
      risk: 'read',
      run: ({ guildId }, { signal, progress }) =>
        new Promise((resolve) => {
          letters.push(guildId);
          signal.addEventListener('abort', () => resolve('nothing came'), { once: true });
          progress({ progress: 1, message: 'waiting' });
        }),
    });
  },
});

function latestIn({ messages }: LocalChannel): LocalMessage {
  const latest = messages.at(-1);
  if (latest === undefined) throw new Error('nothing was said in the channel');
  return latest;
}

const textOf = (outcome: Outcome): string => {
  if (outcome.status === 'done') return outcome.text;
  return outcome.status === 'failed' ? outcome.error.message : outcome.status;
};

/** Two processes, each with a group of the owner's servers. */
async function createTwoProcesses() {
  const world = await createClusterWorld({ groups: GROUPS, guilds: 6 });
  const { members, hosts } = await world.processes(['confirm', 'discord-tools', post]);
  const direct = world.owner.openDm(world.application);
  const places = world.channels.map((channel) => {
    const { guild } = channel;
    const host = hosts().find(({ client }) => client.guilds.cache.has(guild?.id ?? ''));
    if (guild === undefined || host === undefined) throw new Error('a channel of no server, or that nobody serves');
    return { channel, guild, host };
  });
  /** The process with direct messages, and a server of the other one. */
  const group = (guildId: string) => Number((BigInt(guildId) >> 22n) % BigInt(GROUPS));
  const [near] = places.filter(({ guild }) => group(guild.id) === 0);
  const [far] = places.filter(({ guild }) => group(guild.id) !== 0);
  if (near === undefined || far === undefined) throw new Error('a process has no servers');
  return {
    world,
    direct,
    places,
    near,
    far,
    /** Calls a tool for a member in a direct message. */
    call: (name: string, given: unknown, more: { userId?: string; signal?: AbortSignal } = {}) => {
      const { userId = world.owner.id, ...rest } = more;
      const actor: Actor = { userId, guildId: null, channelId: direct.id };
      return near.host.resolve(Tools).invoke({ name, arguments: given, actor, origin: 'chat', ...rest });
    },
    async [Symbol.asyncDispose]() {
      for (const member of members) await member.stop();
      await world[Symbol.asyncDispose]();
    },
  };
}

describePostgres('cluster: tools that are called in a direct message and reach servers of another process', () => {
  let two: Awaited<ReturnType<typeof createTwoProcesses>>;
  before(async function () {
    this.timeout(60_000);
    two = await createTwoProcesses();
  });
  after(() => two[Symbol.asyncDispose]());

  it('read and write there, with the rights that the member has there', async () => {
    const { world, direct, places, call, near } = two;
    /** Calls a tool, and confirms the call. */
    const read = async (name: string, given: unknown) => {
      const outcome = await call(name, given);
      if (outcome.status !== 'deferred') return textOf(outcome);
      world.owner.react(latestIn(direct), '👍');
      return textOf(await outcome.settled);
    };
    expect((await read('discord_list_servers', {})).split('\n').sort()).to.eql(
      places.map(({ guild }) => `**${guild.name}** (server ${guild.id})`).sort(),
    );
    for (const { guild, channel, host } of places) {
      world.owner.say(channel, 'Good morning from here');
      const channelId = channel.id;
      expect(await read('discord_read_messages', { channelId })).to.include('Good morning from here');
      expect(await read('discord_get_server_info', { guildId: guild.id })).to.include(guild.name);
      expect(await read('discord_search_messages', { guildId: guild.id, content: 'morning' })).to.include(
        'Good morning from here',
      );
      // The result in the direct message is shown again while the member may read its source, and never to others.
      const sources = [{ guildId: guild.id, channelId }];
      const may = (userId: string) =>
        near.host.resolve(Provenance).mayShow(sources, [{ userId, guildId: null, channelId: direct.id }]);
      const stranger = world.discord.createUser({ name: 'stranger' });
      expect([await may(world.owner.id), await may(stranger.id)]).to.eql([true, false]);
      expect(await near.host.resolve(Provenance).mayHave(sources, world.owner.id)).to.equal(true);

      const refused = await call('discord_read_messages', { channelId }, { userId: stranger.id });
      const unknown = await call('discord_read_messages', { channelId: '1' }, { userId: stranger.id });
      expect(refused).to.include({ status: 'denied' });
      expect(refused.status === 'denied' && refused.reason).to.equal(unknown.status === 'denied' && unknown.reason);

      const sending = await call('discord_send', { channelId, message: 'Hello from the other side' });
      if (sending.status !== 'deferred') throw new Error(`not held: ${textOf(sending)}`);
      const card = latestIn(direct);
      expect(JSON.stringify(card)).to.include(`<#${channelId}>`);
      world.owner.react(card, '👍');
      expect(await sending.settled).to.include({ status: 'done' });
      const said = channel.messages.filter(({ content }) => content.includes('Hello from the other side'));
      expect(said, 'messages that were sent').to.have.length(1);

      await host.resolve(ToolPolicies).set(guild.id, 'discord_read_messages', 'deny');
      expect(await call('discord_read_messages', { channelId })).to.include({ status: 'denied' });
    }
  }).timeout(60_000);

  it('are refused by the requesting process when the place does not exist', async () => {
    const { call, places, near } = two;
    looked.length = 0;
    expect(await call('read_nowhere', {})).to.include({ status: 'denied' });
    expect(looked).to.have.members(places.filter(({ host }) => host === near.host).map(({ guild }) => guild.id));
    const unknown = await call('discord_read_messages', { channelId: '1' });
    expect(unknown.status === 'denied' && unknown.reason).to.equal(
      'The tool discord_read_messages may not be used: there is no such place, or it is out of reach from here',
    );
  }).timeout(60_000);

  it('are shown and run by the process of the server, say how far they are, and stop there', async () => {
    const { world, direct, call, far } = two;
    const { guild } = far;
    const posting = await call('post_letter', { guildId: guild.id });
    if (posting.status !== 'deferred') throw new Error(`not held: ${textOf(posting)}`);
    expect(JSON.stringify(latestIn(direct))).to.include(`post it to ${guild.name}`);
    world.owner.react(latestIn(direct), '👍');
    expect(await posting.settled).to.include({ status: 'done', text: `posted to ${guild.name}` });

    await far.host.resolve(ToolPolicies).set(guild.id, 'await_letter', 'allow');
    const gone = new AbortController();
    const waiting = two.near.host.resolve(Tools).invoke({
      name: 'await_letter',
      arguments: { guildId: guild.id },
      actor: { userId: world.owner.id, guildId: null, channelId: direct.id },
      origin: 'chat',
      signal: gone.signal,
      onProgress: () => gone.abort(),
    });
    expect(await waiting).to.include({ status: 'done', text: 'nothing came' });
  }).timeout(60_000);
});

describePostgres('cluster: a call that another process runs when that process is gone', () => {
  it('is unknown to its caller as soon as the server has another process, and is not run again', async () => {
    await using two = await createTwoProcesses();
    const { world, direct, call, near, far } = two;
    await far.host.resolve(ToolPolicies).set(far.guild.id, 'await_letter', 'allow');
    letters.length = 0;
    const waiting = near.host.resolve(Tools).invoke({
      name: 'await_letter',
      arguments: { guildId: far.guild.id },
      actor: { userId: world.owner.id, guildId: null, channelId: direct.id },
      origin: 'chat',
      onProgress: () => void world.loseGroup(1),
    });
    const outcome = await world.later(waiting);
    expect(outcome).to.have.nested.property('error.code', 'CINNABAR_TOOL_UNKNOWN_OUTCOME');
    expect(await near.host.resolve(Ledger).get(outcome.callId)).to.include({ state: 'unknown' });
    expect(letters).to.eql([far.guild.id]);
    // The server's next process answers the call.
    const next = await world.later(call('post_letter', { guildId: far.guild.id }));
    expect(next.status).to.equal('deferred');
  }).timeout(60_000);
});

describePostgres('cluster: an agent that was let into servers of two processes', () => {
  let two: Awaited<ReturnType<typeof createTwoProcesses>>;
  before(async function () {
    this.timeout(60_000);
    two = await createTwoProcesses();
  });
  after(() => two[Symbol.asyncDispose]());
  /** Waits until a process has read an identity that another one has saved. */
  const known = async ({ host }: typeof two.near, identity: string) => {
    while ((await host.resolve(Identities).get(identity)) === undefined)
      await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it('reads and writes in the one while it is called in the other, and asks for confirmation where it acts', async () => {
    const { world, near, far } = two;
    const identity = 'post:carrier';
    const grant = ({ guild, channel }: typeof near) => ({
      ...{ guildId: guild.id, userId: world.owner.id, channelId: channel.id, channels: [channel.id] },
      tools: { discord_send: 'confirm', discord_read_messages: 'allow', discord_get_server_info: 'allow' } as const,
    });
    await near.host
      .resolve(Identities)
      .save({ id: identity, plugin: 'post', name: 'Carrier', grants: [grant(near), grant(far)] });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      const actor = { userId: world.owner.id, guildId: from.guild.id, channelId: from.channel.id, identity };
      await known(far, identity);
      // The result is the same for each process that the agent's request reaches.
      for (const { host } of [near, far]) {
        const call = (name: string, given: unknown) =>
          host.resolve(Tools).invoke({
            name,
            arguments: given,
            actor,
            origin: 'mcp',
            key: `${name} ${host === near.host} ${JSON.stringify(given)}`,
          });
        const channelId = to.channel.id;
        world.owner.say(to.channel, 'The tide is high');
        expect(textOf(await call('discord_read_messages', { channelId }))).to.include('The tide is high');
        expect(textOf(await call('discord_get_server_info', { guildId: to.guild.id }))).to.include(to.guild.name);
        const given = { channelId, message: 'I carry a letter' };
        const before = to.channel.messages.filter(({ content }) => content.includes('I carry a letter')).length;
        const sending = await call('discord_send', given);
        if (sending.status !== 'deferred') throw new Error(`not held: ${textOf(sending)}`);
        world.owner.react(latestIn(to.channel), '👍');
        const outcome = await sending.settled;
        expect(outcome).to.include({ status: 'done' });
        expect(await to.host.resolve(Ledger).get(sending.callId)).to.include({ state: 'done' });
        // A repeated call with the same key is not executed again.
        expect(textOf(await call('discord_send', given))).to.equal(textOf(outcome));
        const after = to.channel.messages.filter(({ content }) => content.includes('I carry a letter')).length;
        expect(after - before, 'the letter, and the card that shows it').to.be.within(1, 2);
        const elsewhere = two.places.find(({ guild }) => ![near.guild.id, far.guild.id].includes(guild.id));
        expect(await call('discord_read_messages', { channelId: elsewhere?.channel.id })).to.include({
          status: 'denied',
        });
      }
    }
  }).timeout(60_000);

  it('writes to its member in a direct message, and from there into the server of the other process', async () => {
    const { world, direct, near, far } = two;
    const identity = 'post:messenger';
    const home = { guildId: null, channelId: direct.id };
    const there = { guildId: far.guild.id, channelId: far.channel.id };
    const grants = [home, there].map((place) => ({
      ...place,
      userId: world.owner.id,
      channels: [place.channelId],
      tools: { discord_send: 'allow' } as const,
    }));
    await far.host.resolve(Identities).save({ id: identity, plugin: 'post', name: 'Messenger', grants });
    await known(near, identity);
    for (const [from, to, channel] of [
      [there, home, direct],
      [home, there, far.channel],
    ] as const) {
      const actor = { userId: world.owner.id, ...from, identity };
      const message = `From ${from.guildId ?? 'a direct message'}`;
      const request = { name: 'discord_send', arguments: { channelId: to.channelId, message }, actor, origin: 'mcp' };
      expect(await far.host.resolve(Tools).invoke(request)).to.include({ status: 'done' });
      expect(channel.messages.filter(({ content }) => content.includes(message))).to.have.length(1);
    }
  }).timeout(60_000);
});
