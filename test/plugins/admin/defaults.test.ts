import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { definePlugin, GuildFiles, Plugins, Prefixes, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { answering } from './harness.js';

const heard: string[] = [];
const bar = definePlugin({
  manifest: { id: 'bar', version: '1.0.0', description: 'Serves drinks', intents: ['GuildMessages', 'MessageContent'] },
  setup({ command, on, tool }) {
    command({ name: 'drink', description: 'Have a drink', run: (ctx) => ctx.reply('Cheers') });
    on('messageCreate', ({ author, content }) => (author.bot ? undefined : heard.push(content)));
    const input = z.object({});
    tool({ name: 'pour', description: 'Pour a drink', input, risk: 'read', run: () => 'poured' });
    tool({ name: 'close_bar', description: 'Close', input, risk: 'destructive', run: () => 'closed' });
    for (let number = 1; number <= 20; number += 1)
      tool({ name: `glass_${number}`, description: 'A glass', input, risk: 'write', run: () => 'clink' });
  },
});

describe('admin: defaults of plugins in servers that have not chosen', () => {
  let host: TestHost;
  let say: ReturnType<typeof answering>;
  before(async () => {
    host = await createTestHost({ plugins: ['admin', bar] });
    say = answering(host);
  });
  after(() => host[Symbol.asyncDispose]());

  it("is the owner's to say of each plugin: for servers that have not chosen, at once", async () => {
    expect(await say(host.alice, '!plugin default bar off')).to.include('You may not do that');
    expect(await say(host.you, '!plugin default bar off')).to.equal('`bar` is off by default now.');
    expect(await say(host.alice, '!drink')).to.include('not available');
    heard.splice(0);
    await say(host.alice, 'hello');
    expect(heard).to.deep.equal([]);
    await say(host.you, '!plugin enable bar');
    expect(await say(host.alice, '!drink')).to.equal('Cheers');
    expect(host.resolve(Plugins).enabledIn('1000000000000000000', 'bar')).to.equal(false);
    expect(await say(host.you, '!plugin default bar reset')).to.equal('`bar` is on by default now.');
    expect(await say(host.you, '!plugin default admin off')).to.include('cannot be switched off');
  });

  it('is a file for servers that the bot is added to, once', async () => {
    host.you.say(host.general, '!newservers set', {
      files: [{ name: 'new.yaml', data: Buffer.from('plugins: { bar: off }\nprefixes: ["?"]\n') }],
    });
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.include('begin as this file says');
    const guild = host.discord.createGuild({ name: 'Elsewhere', owner: host.bob });
    guild.invite(host.application);
    await host.settled();
    expect(host.resolve(Prefixes).get(guild.id)).to.deep.equal(['?']);
    expect(host.resolve(Plugins).enabledIn(guild.id, 'bar')).to.equal(false);
    await host.resolve(Prefixes).reset(guild.id);
    guild.remove(host.bot);
    guild.invite(host.application);
    await host.settled();
    expect(host.resolve(Prefixes).get(guild.id)).to.deep.equal(['!']);
    expect(await say(host.you, '!newservers clear')).to.include('defaults of the plugins');
  });

  const set = async (file: string) => {
    host.you.say(host.general, '!newservers set', { files: [{ name: 'new.yaml', data: Buffer.from(file) }] });
    await host.settled();
    return host.general.messages.at(-1)?.content ?? '';
  };

  it('is what a server exports, whichever server that is', async () => {
    await say(host.you, '!prefix add $');
    await say(host.you, '!plugin disable bar');
    const file = await host.resolve(GuildFiles).export(host.guild.id);
    expect(file).to.match(/^server: /);
    expect(await set(file)).to.include('begin as this file says');
    const guild = host.discord.createGuild({ name: 'Third', owner: host.bob });
    guild.invite(host.application);
    await host.settled();
    expect(host.resolve(Prefixes).get(guild.id)).to.deep.equal(['!', '$']);
    expect(host.resolve(Plugins).enabledIn(guild.id, 'bar')).to.equal(false);
    await say(host.you, '!prefix remove $');
    await say(host.you, '!plugin enable bar');
  });

  it('names no role or channel of one server', async () => {
    const role = host.guild.createRole({ name: 'Fixers' });
    await host.settled();
    expect(await set(`roles: { mod: ["${role.id}"] }\nrules: [{ effect: deny, plugin: bar, channel: general }]`))
      .to.include('line 1: roles.mod.0: a file for new servers names no roles, members or channels')
      .and.include('line 2: rules.0: a file for new servers names no roles');
  });

  it('changes nothing in a server whose admins have chosen something before', async () => {
    const guild = host.discord.createGuild({ name: 'Fourth', owner: host.bob });
    await say(host.you, '!newservers clear');
    guild.invite(host.application);
    await host.settled();
    await host.resolve(Prefixes).add(guild.id, '#');
    guild.remove(host.bot);
    await set('prefixes: ["?"]');
    guild.invite(host.application);
    await host.settled();
    expect(host.resolve(Prefixes).get(guild.id)).to.deep.equal(['!', '#']);
  });

  it('is for servers, too, that the bot is added to while it does not run', async () => {
    const { dataDir, discord, application, guild, general, you, alice, bob, clock } = host;
    await say(you, '!newservers clear');
    const old = discord.createGuild({ name: 'Old', owner: bob });
    old.invite(application);
    await host.settled();
    await host.advance(1_000);
    await set('prefixes: ["?"]');
    await host.stop();
    const fresh = discord.createGuild({ name: 'Fifth', owner: bob });
    fresh.invite(application);
    const world = { discord, application, guild, general, you, alice, bob, clock };
    const again = await createTestHost({ plugins: ['admin', bar], dataDir, world });
    const prefixes = [guild, old, fresh].map(({ id }) => again.resolve(Prefixes).get(id));
    expect(prefixes).to.deep.equal([['!'], ['!'], ['?']]);
    await again.stop();
    await host[Symbol.asyncDispose]();
    host = await createTestHost({ plugins: ['admin', bar] });
    say = answering(host);
  });

  it('shows tools by plugin, risk and policy, in pages', async () => {
    expect(await say(host.you, '!tool list bar destructive')).to.match(/^\*\*Tools\*\* \(1\)\n• `close_bar`/);
    await say(host.you, '!tool policy pour deny');
    expect(await say(host.you, '!tool list deny')).to.match(/\(1\)\n• `pour`/);
    expect(await say(host.you, '!tool list bar 2')).to.match(/\(22\), page 2 of 2\n/);
    expect(await say(host.you, '!tool list nonsense')).to.include('`nonsense` is neither a plugin with tools');
  });
});
