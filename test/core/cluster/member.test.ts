import type { LocalMessage } from '@cinnabar/local-discord';
import { definePlugin, OwnerNotices, option, PersonalDataStore, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { makeFolder } from '../../support/folder.js';
import { describePostgres } from '../../support/postgres.js';
import { createClusterWorld } from './harness.js';

const GROUPS = 2;

/** Counts in each server, and answers each message that begins with "echo" in an event listener. */
const counter = definePlugin({
  manifest: {
    id: 'counter',
    version: '1.0.0',
    description: 'Counts.',
    intents: ['Guilds', 'GuildMessages', 'MessageContent'],
  },
  collections: { counts: { scope: 'guild', version: 1, schema: z.object({ n: z.number().default(0) }) } },
  setup({ command, on, collections }) {
    command({
      name: 'count',
      description: 'Counts one more',
      async run({ guild, reply }) {
        if (guild === null) return;
        const { n } = await collections.counts.of(guild).update((draft) => {
          draft.n += 1;
        });
        await reply(`${n}`);
      },
    });
    command({
      name: 'ponder',
      description: 'Never comes to an end',
      async run({ defer }) {
        await defer();
        await new Promise(() => undefined);
      },
    });
    on('messageCreate', async (message) => {
      if (message.content.startsWith('echo')) await message.reply(message.content);
    });
  },
});

/** Raises an alert to the owners about the disk on command; a host sends it once. */
const watchman = definePlugin({
  manifest: {
    id: 'watchman',
    version: '1.0.0',
    description: 'Warns.',
    intents: ['Guilds', 'GuildMessages', 'MessageContent'],
  },
  inject: { notices: OwnerNotices },
  setup({ on, services }) {
    const told = new Set<string>();
    on('messageCreate', ({ content, author }) => {
      if (author.bot || told.has(content)) return;
      told.add(content);
      services.notices.alert({ kind: `disk-${told.size}`, text: `The disk is ${content}.`, remedy: 'Look at it.' });
    });
  },
});

/** Notes of members, one for each server. */
const diary = definePlugin({
  manifest: {
    id: 'diary',
    version: '1.0.0',
    description: 'Keeps notes.',
    intents: ['Guilds', 'GuildMessages', 'MessageContent'],
  },
  collections: {
    notes: {
      scope: 'guild',
      version: 1,
      schema: z.object({ userId: z.string(), guildId: z.string(), text: z.string() }),
      personal: { by: 'userId' },
    },
  },
  setup({ command, collections }) {
    command({
      name: 'note',
      description: 'Keeps a note',
      options: { text: option.rest().describe('What to keep') },
      async run({ guild, user, reply }, { text }) {
        if (guild === null) return;
        await collections.notes.of(guild).set({ userId: user.id, guildId: guild.id, text });
        await reply('noted');
      },
    });
  },
});

describePostgres('cluster: processes that serve a bot together', () => {
  it('divide its servers, and each command is answered once while they move', async () => {
    await using world = await createClusterWorld({ groups: GROUPS, guilds: 6 });
    const one = world.member('one', [counter]);
    const other = world.member('other', [counter]);
    await one.start();
    expect(one.groups()).to.eql([0, 1]);
    const asked: LocalMessage[] = [];
    const ask = (text: string) => {
      for (const channel of world.channels) asked.push(world.owner.say(channel, text));
    };
    ask('!count');
    ask('echo first');
    await other.start();
    ask('!count');
    await world.until(() => other.groups().length === 1 && one.groups().length === 1);
    ask('!count');
    ask('echo second');
    await one.stop();
    ask('!count');
    await world.until(() => asked.every((message) => world.answersTo(message).length > 0));
    await world.discord.settled();
    expect(asked.map((message) => world.answersTo(message).length)).to.eql(asked.map(() => 1));
    for (const channel of world.channels) {
      const counted = asked.filter((message) => message.channel === channel && message.content === '!count');
      expect(counted.map((message) => world.answersTo(message)[0]?.content)).to.eql(['1', '2', '3', '4']);
    }
    await other.stop();
  }).timeout(60_000);

  it('tell members whose commands were done by a process that could not answer any more', async () => {
    await using world = await createClusterWorld({ groups: 1, guilds: 1 });
    const one = world.member('one', [counter]);
    await one.start();
    const [channel] = world.channels;
    if (channel === undefined) throw new Error('there is no channel');
    world.discord.faults.rest.fail(503, {
      times: Number.POSITIVE_INFINITY,
      method: 'POST',
      route: '/channels/:channelId/messages',
    });
    const asked = world.owner.say(channel, '!count');
    await world.discord.settled();
    await world.later(one.stop());
    world.discord.faults.clear();
    const other = world.member('other', [counter]);
    await other.start();
    await world.until(() => world.answersTo(asked).length > 0);
    expect(
      world
        .answersTo(asked)
        .map(({ content }) => content)
        .join(),
    ).to.match(/I was interrupted/);
    await other.stop();
  }).timeout(60_000);

  it('tell them, too, when the next process could not say it either', async () => {
    await using world = await createClusterWorld({ groups: 1, guilds: 1 });
    const [channel] = world.channels;
    if (channel === undefined) throw new Error('there is no channel');
    const one = world.member('one', [counter]);
    await one.start();
    const route = { method: 'POST', route: '/channels/:channelId/messages' } as const;
    world.discord.faults.rest.fail(503, { times: Number.POSITIVE_INFINITY, ...route });
    const asked = world.owner.say(channel, '!count');
    await world.discord.settled();
    await world.later(one.stop());
    const other = world.member('other', [counter]);
    await other.start();
    await world.later(other.stop());
    world.discord.faults.clear();
    const third = world.member('third', [counter]);
    await third.start();
    await world.until(() => world.answersTo(asked).length > 0);
    await third.stop();
    const fourth = world.member('fourth', [counter]);
    await fourth.start();
    await world.discord.settled();
    await fourth.stop();
    expect(world.answersTo(asked).map(({ content }) => content))
      .to.have.length(1)
      .and.to.satisfy(([text]: string[]) => text?.includes('I was interrupted'));
  }).timeout(60_000);

  it('answer interactions that a dead process has left as "thinking"', async () => {
    await using world = await createClusterWorld({ groups: 1, guilds: 1 });
    const one = world.member('one', [counter]);
    await one.start();
    const [channel] = world.channels;
    if (channel === undefined) throw new Error('there is no channel');
    await world.slashable(channel, 'ponder');
    const asked = world.owner.slash(channel, 'ponder');
    await world.until(() => asked.messages.length > 0);
    world.discord.faults.rest.fail(503, { times: Number.POSITIVE_INFINITY });
    await world.later(one.stop());
    world.discord.faults.clear();
    const other = world.member('other', [counter]);
    await other.start();
    await world.until(() => asked.messages.some(({ content }) => content !== ''));
    expect(asked.messages.map(({ content }) => content).join()).to.match(/I was interrupted/);
    await other.stop();
  }).timeout(60_000);

  it('export and forget a person whose data is in servers of several of them', async () => {
    await using world = await createClusterWorld({ groups: GROUPS, guilds: 6 });
    const one = world.member('one', [diary]);
    const other = world.member('other', [diary]);
    await one.start();
    await other.start();
    await world.until(() => other.groups().length === 1 && one.groups().length === 1);
    const noted = world.channels.map((channel) => world.owner.say(channel, '!note to self'));
    await world.until(() => noted.every((message) => world.answersTo(message).length === 1));
    const [host] = one.hosts();
    const data = host?.resolve(PersonalDataStore);
    const exported = JSON.stringify(await data?.export(world.owner.id));
    for (const { guild } of world.channels) expect(exported).to.include(guild?.id);
    expect(await data?.forget(world.owner.id)).to.equal(world.channels.length);
    expect(JSON.stringify(await data?.export(world.owner.id))).not.to.include('to self');
    await one.stop();
    await other.stop();
  }).timeout(60_000);

  it('are shown by the command line, which can have one drain', async () => {
    await using world = await createClusterWorld({ groups: GROUPS, guilds: 2 });
    const { url, schema } = world.database;
    using folder = makeFolder({ 'config/shared.yaml': `storage:\n  schema: ${schema}\n` });
    const run = (...operands: string[]) =>
      cinnabar(['cluster', ...operands], { cwd: folder.path, env: { DATABASE_URL: url } });
    const one = world.member('one', [counter]);
    const other = world.member('other', [counter]);
    await one.start();
    await other.start();
    await world.until(() => other.groups().length === 1 && one.groups().length === 1);
    const { code, out: text } = await run('status');
    expect(code).to.equal(0);
    expect(text.match(/^(?:one|other) \([\w.-]+\): groups [01]$/gm)).to.have.length(2);
    const held =
      /^ {2}group [01]: (?:one|other) since [\d-]+T[\d:]+Z, renewed \d\.\d s ago, (?:commands under way: 0|starting)$/gm;
    expect(text.match(held)).to.have.length(GROUPS);
    expect(text).to.match(/group [01]: one -> other: the other one had fewer\n$/);
    expect(await run('drain', 'nobody')).to.include({
      code: 1,
      err: 'cinnabar: No process that is called "nobody" has been heard of in the last seconds.\n',
    });
    expect((await run('drain', 'one')).out).to.equal(
      'one gives its groups to the others, and takes none until it starts anew.\n',
    );
    await world.until(() => other.groups().length === GROUPS && one.groups().length === 0);
    await one.stop();
    await other.stop();
    await world.database.query(`UPDATE ${schema}.leases SET until = now() - interval '1 s'`);
    const stopped = await run('status');
    expect(stopped.code).to.equal(1);
    expect(stopped.out).to.match(
      /group [01]: one -> other: it stopped, or was drained\n(?:.*\n)*Served by nobody: groups 0, 1\n$/,
    );
  }).timeout(60_000);

  it('are shown to the owner of the bot, with what moved and why', async () => {
    await using world = await createClusterWorld({ groups: GROUPS, guilds: 2 });
    const one = world.member('one', ['admin']);
    await one.start();
    const [channel] = world.channels;
    if (channel === undefined) throw new Error('there is no channel');
    const answer = async () => {
      const asked = world.owner.say(channel, '!cluster');
      await world.until(() => world.answersTo(asked).length > 0);
      return world
        .answersTo(asked)
        .map(({ content }) => content)
        .join('\n');
    };
    const first = await answer();
    expect(first).to.match(/^\*\*Cluster\*\* of 2 groups of servers\n• \*\*one\*\* \([\w.-]+\): groups 0, 1$/m);
    expect(
      first.match(/^• Group [01]: one, taken <t:\d+:R>; lease renewed \d\.\d s ago, [01] commands? under way$/gm),
    ).to.have.length(GROUPS);
    expect(first).to.include('1 command under way');
    expect(first).to.include('No group has changed its process in the last day.');
    await world.loseGroup(1);
    let later = '';
    while (!later.includes('Take-overs')) later = await answer();
    expect(later).to.match(/^• <t:\d+:f> group 1: \? → one: it died, or was cut off from the database$/m);
    await one.stop();
  }).timeout(60_000);

  it('tell how long they run, start again one after another, and stop together when the owner says so', async () => {
    await using world = await createClusterWorld({ groups: GROUPS, guilds: 2 });
    const members = ['one', 'other', 'spare'].map((name) => world.member(name, ['admin']));
    for (const member of members) await member.start();
    const [channel] = world.channels;
    if (channel === undefined) throw new Error('there is no channel');
    const answer = async (words: string) => {
      const asked = world.owner.say(channel, words);
      await world.until(() => world.answersTo(asked).length > 0);
      const [first] = world.answersTo(asked);
      if (first === undefined) throw new Error(`no answer to ${words}`);
      return first;
    };
    expect((await answer('!bot uptime')).content).to.match(
      /^3 processes serve me together. The first was started <t:\d+:R>, the last <t:\d+:R>\.$/,
    );
    await answer('!bot restart');
    const running = [...members];
    for (let round = 0; round < 3; round += 1) {
      await world.until(() => running.some(({ ends }) => ends.length > 0));
      const index = running.findIndex(({ ends }) => ends.length > 0);
      const [restarted] = running.splice(index, 1);
      expect(restarted?.ends).to.eql(['restart']);
      expect(running.flatMap(({ ends }) => ends)).to.eql([]);
      await restarted?.stop();
      const again = world.member(restarted?.name ?? '', ['admin']);
      await again.start();
      members.push(again);
    }
    const after = members.slice(3);
    world.owner.click(await answer('!bot shutdown'), 'Stop it');
    await world.until(() => after.every(({ ends }) => ends.join() === 'shutdown'));
    for (const member of after) await member.stop();
  }).timeout(120_000);

  it('do not wait, when all are to restart, for one of an earlier version, which is named', async () => {
    await using world = await createClusterWorld({ groups: GROUPS, guilds: 2 });
    const { schema, query } = world.database;
    const members = ['one', 'other'].map((name) => world.member(name, ['admin']));
    for (const member of members) await member.start();
    await world.until(() => members.every((member) => member.groups().length === 1));
    // Simulates its heartbeat: it drains, so that it needs no groups, and is the first in the order of the restart.
    await query(
      `INSERT INTO ${schema}.members (id, name, version, draining, state, seen_at) VALUES ('0', 'ancient', '0', true, '{"isConnected":true}', now() + interval '1 hour')`,
    );
    const [channel] = world.channels;
    if (channel === undefined) throw new Error('there is no channel');
    const asked = world.owner.say(channel, '!bot restart');
    await world.until(() => members.some(({ ends }) => ends.length > 0));
    expect(world.answersTo(asked)[0]?.content).to.include(
      'ancient is of an earlier version and does not hear of it: start it again where it runs.',
    );
    for (const member of members) await member.stop();
  }).timeout(30_000);

  it('begin anew where they left off, without a new session', async () => {
    await using world = await createClusterWorld({ groups: GROUPS, guilds: 4 });
    const first = world.member('first', [counter]);
    await first.start();
    const before = world.channels.map((channel) => world.owner.say(channel, '!count'));
    await world.until(() => before.every((message) => world.answersTo(message).length === 1));
    await first.stop();
    // No process is running.
    const meanwhile = world.channels.map((channel) => world.owner.say(channel, '!count'));
    const second = world.member('second', [counter]);
    await second.start();
    await world.until(() => meanwhile.every((message) => world.answersTo(message).length > 0));
    expect(meanwhile.map((message) => world.answersTo(message).map(({ content }) => content))).to.eql(
      meanwhile.map(() => ['2']),
    );
    await second.stop();
  }).timeout(60_000);

  it('execute a slash command that came while no process served its server, and answer it in the channel', async () => {
    await using world = await createClusterWorld({ groups: 1, guilds: 1 });
    const one = world.member('one', [counter]);
    await one.start();
    const [channel] = world.channels;
    if (channel === undefined) throw new Error('there is no channel');
    await world.slashable(channel, 'count');
    await one.stop();
    const asked = world.owner.slash(channel, 'count');
    await world.later(world.until(() => asked.expired));
    const other = world.member('other', [counter]);
    await other.start();
    const said = () => [...channel.messagesById.values()].map(({ content }) => content);
    await world.until(() => said().includes('1'));
    await other.stop();
    expect(said().join()).to.include('`/count`:');
  }).timeout(60_000);

  it('tell the owner of the bot once what the hosts of several groups notice', async () => {
    await using world = await createClusterWorld({ groups: GROUPS, guilds: 6 });
    const one = world.member('one', [watchman]);
    const other = world.member('other', [watchman], {}, true);
    await one.start();
    await other.start();
    await world.until(() => other.groups().length === 1 && one.groups().length === 1);
    for (const channel of world.channels) world.owner.say(channel, 'full');
    const told = () => world.notices().join('\n');
    const expected = ['The disk is full.', 'The process other was started again after a run that did not stop cleanly'];
    await world.later(world.until(() => expected.every((words) => told().includes(words))));
    for (const channel of world.channels) world.owner.say(channel, 'read only');
    await world.later(world.until(() => told().includes('The disk is read only.')));
    await one.stop();
    await other.stop();
    for (const words of expected) expect(told().split(words)).to.have.length(2);
    expect(told()).not.to.include('more time');
  }).timeout(60_000);
});
