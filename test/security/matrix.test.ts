import { createMemoryDriver } from '@cinnabar/core/testing';
import type { LocalChannel, LocalUser } from '@cinnabar/local-discord';
import { Access, type Actor, Identities, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { CALLS } from '../plugins/discord-tools/calls.js';
import { type Harness, openToolsHarness } from '../plugins/discord-tools/harness.js';
import { makeThings, type Things } from '../plugins/discord-tools/things.js';

const SURFACES = ['chat', 'persona', 'tasks', 'relay', 'mcp', 'command'] as const;
const FROM = ['guild', 'dm'] as const;

/** Tools about the server's members and roles, which a member's own client shows. */
const OF_THE_GUILD = new Set(['discord_list_roles', 'discord_list_members', 'discord_get_member']);
/** Tools that read a whole guild, and return the part that the requester can see. */
const LOOKING_OVER = new Set([
  'discord_search_messages',
  'discord_list_servers',
  'discord_get_server_info',
  'discord_get_forum_channels',
]);

interface Situation {
  readonly name: string;
  readonly user: LocalUser;
  /** The channel of the request, which the requester can see. */
  readonly here: LocalChannel;
  readonly things: Things;
  /** Whether the requester is in the guild of the objects. */
  readonly isMember: boolean;
}

describe('security: the matrix of tools, places and surfaces', () => {
  let harness: Harness;
  let situations: readonly Situation[];

  before(async function () {
    this.timeout(60_000);
    harness = await openToolsHarness({ driver: createMemoryDriver() });
    situations = await setUp(harness);
  });
  after(() => harness[Symbol.asyncDispose]());

  it('shows members no more than their own client would', async function () {
    this.timeout(60_000);
    const names = harness.host
      .resolve(Tools)
      .list()
      .map(({ name }) => name);
    expect(names).to.have.members(Object.keys(CALLS)).and.have.length.of.at.least(54);
    const before = situations.map(stateOf);
    const tried: Try[] = [];
    for (const situation of situations) {
      for (const from of FROM) tried.push(...(await tryOut(harness, situation, from)));
    }
    const breaks = tried.flatMap(({ what, broke }) => (broke === undefined ? [] : [`${what}: ${broke}`]));
    const tries = tried.length;
    process.stdout.write(`      tries: ${tries}, breaks: ${breaks.length}\n`);
    expect(breaks).to.deep.equal([]);
    expect(tries).to.be.at.least(54 * 6 * 2 * 6);
    expect(situations.map(stateOf), 'nothing was changed').to.deep.equal(before);
  });
});

interface Try {
  readonly what: string;
  /** The forbidden content that was shown, if any. */
  readonly broke: string | undefined;
}

/** Calls every tool from every surface, and the lists and histories outside of tools. */
async function tryOut({ host }: Harness, situation: Situation, from: (typeof FROM)[number]): Promise<readonly Try[]> {
  const { name: where, things } = situation;
  const tries: Try[] = [];
  const actors = SURFACES.map((surface) => ({ surface, actor: actorOf(situation, from, surface, host.application) }));
  for (const [name, { input }] of Object.entries(CALLS)) {
    const tried = actors.map(async ({ surface, actor }): Promise<Try> => {
      const outcome = await host.resolve(Tools).invoke({ name, arguments: input(things), actor, origin: surface });
      const text = JSON.stringify(outcome);
      const broke = isBreak(name, situation, outcome.status === 'done', text) ? text.slice(0, 200) : undefined;
      return { what: `${name} · ${where} · ${from} · ${surface}`, broke };
    });
    tries.push(...(await Promise.all(tried)));
  }
  const { guild, id: channelId } = things.channel;
  for (const { surface, actor } of actors) {
    const may = await host.resolve(Access).mayEnter(actor, { guildId: guild?.id ?? null, channelId });
    tries.push({ what: `mayEnter · ${where} · ${from} · ${surface}`, broke: may ? 'they may' : undefined });
  }
  return tries;
}

function isBreak(name: string, { things, isMember }: Situation, isDone: boolean, text: string): boolean {
  const isSeen = OF_THE_GUILD.has(name) && isMember;
  if (isSeen) return new RegExp(`${things.word}(?:-text|-forum|-post|-thread|-category| )`).test(text);
  if (text.includes(things.word)) return true;
  return isDone && !LOOKING_OVER.has(name);
}

function actorOf(
  { name, user, here }: Situation,
  from: (typeof FROM)[number],
  surface: (typeof SURFACES)[number],
  application: Harness['host']['application'],
): Actor {
  const place =
    from === 'guild'
      ? { guildId: here.guild?.id ?? null, channelId: here.id }
      : { guildId: null, channelId: user.openDm(application).id };
  return {
    userId: user.id,
    ...place,
    ...(surface === 'relay' ? { identity: `test:${name.replaceAll(' ', '-')}` } : {}),
  };
}

/** The state that a call could have changed. */
function stateOf({ things: { channel, guildId } }: Situation): unknown {
  return [
    guildId,
    channel.name,
    channel.messages.map(({ content, pinned, reactions }) => [content, pinned, reactions.length]),
  ];
}

/** The bot has cached the memberships from when all members could still see everything. */
async function setUp(harness: Harness): Promise<readonly Situation[]> {
  const { host, guild, general, bob } = harness;
  const { discord, application } = host;
  const newcomer = (name: string, where: typeof guild) => {
    const user = discord.createUser({ name });
    where.join(user);
    return user;
  };
  /** A set of objects that requires a role. */
  const hidden = async (role: ReturnType<typeof guild.createRole>) => {
    const things = await makeThings(harness);
    for (const channel of [things.category, things.channel, things.forum]) {
      guild.overwrite(channel, { for: guild.everyone, deny: ['ViewChannel'] });
      guild.overwrite(channel, { for: role, allow: ['ViewChannel', 'ReadMessageHistory', 'SendMessages'] });
      guild.overwrite(channel, { for: application.user, allow: ['ViewChannel', 'ReadMessageHistory', 'SendMessages'] });
    }
    return things;
  };
  /** The same objects in a private thread of an open channel. */
  const inThread = async (things: Things): Promise<Things> => {
    const thread = bob.startThread(general, `${things.word}-private`, { private: true });
    const message = bob.say(thread, `${things.word} in private`);
    await host.settled();
    return { ...things, channel: thread, thread, message };
  };

  const role = guild.createRole({ name: 'Insiders' });
  const [outsider, demoted, stray, left] = ['outsider', 'demoted', 'stray', 'left'].map((name) =>
    newcomer(name, guild),
  );
  if (outsider === undefined || demoted === undefined || stray === undefined || left === undefined)
    throw new Error('no');
  guild.giveRole(demoted, role);
  const other = discord.createGuild({ name: 'Elsewhere', owner: bob });
  const lobby = other.createChannel({ name: 'lobby' });
  const kicked = newcomer('kicked', guild);
  other.join(kicked);
  const far = newcomer('far', other);
  other.invite(application);
  await host.settled();

  const ofRole = await hidden(role);
  const privately = await inThread(await hidden(role));
  const leftOne = await inThread(await hidden(role));
  const open = await makeThings(harness);
  leftOne.channel.thread?.members.set(left.id, discord.clock.now());
  for (const user of [outsider, demoted, stray, left, kicked]) user.say(general, 'hello');
  for (const user of [far, kicked]) user.say(lobby, 'hello');
  await host.settled();

  const all: readonly Situation[] = [
    { name: 'hidden channel', user: outsider, here: general, things: ofRole, isMember: true },
    { name: 'private thread', user: stray, here: general, things: privately, isMember: true },
    { name: 'other guild', user: far, here: lobby, things: open, isMember: false },
    { name: 'after demotion', user: demoted, here: general, things: ofRole, isMember: true },
    { name: 'after kick', user: kicked, here: lobby, things: open, isMember: false },
    { name: 'after leaving the thread', user: left, here: general, things: leftOne, isMember: true },
  ];
  for (const { name, user, here } of all) {
    const tools = Object.fromEntries(Object.keys(CALLS).map((tool) => [tool, 'allow' as const]));
    const grant = { userId: user.id, channels: 'all', tools } as const;
    const direct = user.openDm(application).id;
    await host.resolve(Identities).save({
      id: `test:${name.replaceAll(' ', '-')}`,
      plugin: 'discord-tools',
      name,
      grants: [
        { ...grant, guildId: here.guild?.id ?? null, channelId: here.id },
        { ...grant, guildId: null, channelId: direct },
      ],
    });
  }
  // The bot's cache contains their permission to see everything, which they then lose.
  const search = await harness.call(demoted, 'discord_search_messages', { guildId: guild.id, content: ofRole.word });
  expect(search.text).to.include(ofRole.word);
  expect((await harness.call(left, 'discord_read_messages', { channelId: leftOne.channel.id })).status).to.equal(
    'done',
  );
  expect((await harness.call(kicked, 'discord_read_messages', { channelId: open.channel.id })).status).to.equal('done');
  guild.takeRole(demoted, role);
  guild.remove(kicked);
  leftOne.channel.thread?.members.delete(left.id);
  await host.settled();
  // Longer than the cache of memberships: a decision outside of a call may use a cached one.
  await host.advance(6_000);
  return all;
}
