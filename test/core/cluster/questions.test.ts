import type { LocalMessage } from '@cinnabar/local-discord';
import { Accounts, definePlugin, HostInfo, NO_CHANNEL, NO_USAGE, t, UserError, WebPages, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { describePostgres } from '../../support/postgres.js';
import { createClusterWorld } from './harness.js';

const GROUPS = 2;

/** Closed until the test opens it. */
function createGate() {
  let open: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}
const gate = createGate();

/** Asks all its runs for the names of their servers, and one of them for one name. */
const census = definePlugin({
  manifest: { id: 'census', version: '1.0.0', description: 'Counts servers.', intents: ['Guilds', 'GuildMessages'] },
  inject: { host: HostInfo },
  setup({ client, command, question, services: { host } }) {
    const names = question({
      name: 'names',
      input: z.object({ slow: z.boolean() }),
      answer: z.array(z.string()),
      deadlineMs: 1_000,
      async run({ slow }) {
        if (slow && !host.isFirst) await gate.promise;
        return client.guilds.cache.map(({ name }) => name);
      },
    });
    const nameOf = question({
      name: 'name',
      input: z.object({ id: z.string() }),
      answer: z.string(),
      run({ id }) {
        const guild = client.guilds.cache.get(id);
        if (guild === undefined) throw new UserError(t('Something went wrong inside.'));
        return guild.name;
      },
    });
    command({
      name: 'census',
      description: 'Counts servers',
      options: { how: z.enum(['all', 'slow']) },
      async run(ctx, { how }) {
        const { answers, missing } = await names.everywhere({ slow: how === 'slow' });
        await ctx.reply(`${answers.flat().sort().join(', ')}; ${missing} missing`);
      },
    });
    command({
      name: 'named',
      description: 'Names a server',
      options: { id: z.string() },
      run: async (ctx, { id }) => ctx.reply(await nameOf.of(id, { id })).then(() => undefined),
    });
  },
});

/** Spends a dollar in the given server. */
const spender = definePlugin({
  manifest: { id: 'spender', version: '1.0.0', description: 'Spends.', intents: ['GuildMessages'] },
  inject: { accounts: Accounts },
  setup({ command, services: { accounts } }) {
    command({
      name: 'spend',
      description: 'Spends a dollar',
      async run(ctx) {
        await accounts.record({
          id: ctx.channel.id,
          at: Date.now(),
          mind: 'spender',
          actor: ctx.actor,
          messageIds: [],
          trigger: 'I was told to',
          model: 'none',
          provider: 'none',
          usage: { ...NO_USAGE, outputTokens: 100 },
          calls: 1,
          cost: 1,
          tools: [],
          details: [],
        });
        await ctx.reply('Spent.');
      },
    });
  },
});

/** Two processes, each with a group of the servers. */
async function createTwoProcesses(plugins: Parameters<Awaited<ReturnType<typeof createClusterWorld>>['member']>[1]) {
  const world = await createClusterWorld({ groups: GROUPS, guilds: 6 });
  const { members, hosts } = await world.processes(plugins, { CINNABAR_WEB: '0' });
  const direct = world.owner.openDm(world.application);
  return {
    world,
    hosts,
    direct,
    /** The bot's answer to the owner in a direct message. */
    async ask(words: string): Promise<LocalMessage> {
      const said = world.owner.say(direct, words);
      const answer = () => direct.messages.find(({ reference }) => reference?.messageId === said.id);
      await world.until(() => answer() !== undefined);
      const found = answer();
      if (found === undefined) throw new Error(`no answer to ${words}`);
      return found;
    },
    async [Symbol.asyncDispose]() {
      for (const member of members) await member.stop();
      await world[Symbol.asyncDispose]();
    },
  };
}

describePostgres('cluster: questions to all processes', () => {
  /** For the tests that leave no server. */
  let two: Awaited<ReturnType<typeof createTwoProcesses>>;
  before(async function () {
    this.timeout(60_000);
    two = await createTwoProcesses([census, 'admin', 'accounts', 'web', spender]);
  });
  after(() => two[Symbol.asyncDispose]());

  it('are answered for all servers, by the process of one, and say when a part is missing', async () => {
    const { world, ask } = two;
    const all = world.channels.map(({ guild }) => guild?.name).join(', ');
    expect((await ask('!census all')).content).to.equal(`${all}; 0 missing`);
    for (const { guild } of world.channels)
      expect((await ask(`!named ${guild?.id}`)).content).to.equal(guild?.name ?? '');
    // Ids of servers without the bot, one of each group.
    for (const id of ['1', String(1n << 22n)]) {
      expect((await ask(`!named ${id}`)).content).to.include('Something went wrong inside.');
      await ask('!language me de');
      expect((await ask(`!named ${id}`)).content).to.include('Darin ist etwas schiefgegangen.');
      await ask('!language me en');
    }
    expect((await world.later(ask('!census slow'))).content).to.match(/; 1 missing$/);
    gate.open();
  }).timeout(60_000);

  it('let the owner see, address and leave all servers in a direct message', async () => {
    await using leaving = await createTwoProcesses(['admin']);
    const { world, ask, direct } = leaving;
    const { content } = await ask('!bot servers');
    for (const { guild } of world.channels) expect(content).to.include(guild?.name).and.to.include(guild?.id);

    expect((await ask('!bot announce Tonight')).content).to.include('none of my 6 servers has one');
    for (const channel of world.channels) {
      const chosen = world.owner.say(channel, '!set admin announcements #general');
      await world.until(() => world.answersTo(chosen).length > 0);
    }
    const announcement = await ask('!bot announce Tonight at eight');
    expect(announcement.content).to.include('Say this in 6 servers?');
    world.owner.click(announcement, 'Announce it');
    const heard = () =>
      world.channels.filter(({ messages }) => messages.some(({ content: said }) => said.includes('Tonight at eight')));
    await world.until(() => heard().length === 6 && direct.messages.some((one) => one.content.includes('Said in 6')));

    for (const { guild } of world.channels.slice(0, 4)) {
      if (guild === undefined) throw new Error('a channel without a server');
      const asked = await ask(`!bot leave ${guild.id}`);
      expect(asked.content).to.include(`Leave **${guild.name}**`);
      world.owner.click(asked, 'Leave it');
      await world.until(() => !guild.members.has(world.application.user.id));
    }
    expect((await ask('!bot servers')).content).to.include('**Servers** (2)');
    expect((await ask('!bot leave 1')).content).to.include('The bot is in no server with the id');
  }).timeout(60_000);

  it('show the owner the cost, the servers and the connections of all on pages', async () => {
    const { world, hosts, ask } = two;
    const spent = world.channels.map((channel) => world.owner.say(channel, '!spend'));
    await world.until(() => spent.every((message) => world.answersTo(message).length > 0));
    const first = hosts().find((host) => host.resolve(HostInfo).isFirst);
    if (first === undefined) throw new Error('nobody has what belongs to no server');
    const pages = first.resolve(WebPages);
    const request = {
      actor: { userId: world.owner.id, guildId: null, channelId: NO_CHANNEL },
      query: {},
    };
    const view = async (page: string) => JSON.stringify((await pages.view(page, request)).blocks);
    const names = world.channels.map(({ guild }) => guild?.name ?? '');
    const [cost, servers, health] = await Promise.all(['accounts/bot-cost', 'admin/servers', 'web/health'].map(view));
    expect(names.filter((name) => !cost?.includes(name))).to.eql([]);
    expect(cost).to.include('{"usd":6}').and.not.to.include('does not answer');
    expect(names.filter((name) => !servers?.includes(name))).to.eql([]);
    expect(health).to.include(`"${GROUPS} of ${GROUPS}"`).and.to.include('"process-0"').and.to.include('"process-1"');
    // Also works from a server of the process that does not serve the dashboard.
    const links = world.channels.map((channel) => world.owner.say(channel, '!web link'));
    await world.until(() => links.every((message) => world.answersTo(message).length > 0));
    const sent = () => two.direct.messages.filter(({ content }) => content.includes('/sign-in#'));
    await world.until(() => sent().length === links.length);
    expect((await ask('!web link')).content).to.include('/sign-in#');
  }).timeout(60_000);
});
