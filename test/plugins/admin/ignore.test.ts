import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { Access, AccessRules, definePlugin, EVERYTHING, PersonalDataStore, Tools, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { answering } from './harness.js';

const heard: string[] = [];
const watched: string[] = [];
const bar = definePlugin({
  manifest: {
    id: 'bar',
    version: '1.0.0',
    description: 'Serves drinks',
    intents: ['GuildMessages', 'MessageContent', 'GuildMessageReactions'],
  },
  setup({ command, component, on, tool }) {
    const button = component({ name: 'round', run: (interaction) => interaction.reply('A round for all') });
    command({ name: 'drink', description: 'Have a drink', run: (ctx) => ctx.reply('Cheers') });
    command({
      name: 'menu',
      description: 'The menu',
      run: (ctx) =>
        ctx.reply({
          content: 'Choose',
          components: [{ type: 1, components: [{ type: 2, style: 1, label: 'Round', custom_id: button.customId() }] }],
        }),
    });
    tool({ name: 'pour', description: 'Pour a drink', input: z.object({}), risk: 'read', run: () => 'poured' });
    on('messageCreate', ({ author, content }) => (author.bot ? undefined : heard.push(content)));
    on('messageReactionAdd', (_reaction, user) => heard.push(`reaction of ${user.username}`));
    on('messageCreate', ({ author, content }) => (author.bot ? undefined : watched.push(content)), {
      hearsIgnored: true,
    });
  },
});

describe('admin: what the bot takes no notice of', () => {
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;
  let alice: LocalUser;
  let bob: LocalUser;

  before(async () => {
    host = await createTestHost({ plugins: ['admin', bar] });
    say = answering(host);
    ({ alice, bob } = host);
  });
  afterEach(async () => {
    await host.resolve(AccessRules).replace(host.guild.id, []);
    await host.resolve(AccessRules).replace(null, []);
    heard.splice(0);
    watched.splice(0);
  });
  after(() => host[Symbol.asyncDispose]());

  const actorOf = (user: LocalUser) => ({ userId: user.id, guildId: host.guild.id, channelId: host.general.id });
  const offered = async (user: LocalUser) => (await host.resolve(Tools).offered(actorOf(user))).map(({ name }) => name);

  it('a blocked member gets no answer by prefix, slash or button, no tool, and reaches no listener', async () => {
    await say(bob, '!menu');
    const menu = host.general.messages.at(-1);
    expect(await say(host.you, `!block add ${alice}`)).to.equal(`Blocked: everything for <@${alice.id}>.`);
    heard.splice(0);
    expect(await say(alice, '!drink')).to.equal('');
    expect(await say(alice, '!drnk')).to.equal('');
    expect(await say(alice, '!help')).to.equal('');
    expect(await say(alice, 'hello there')).to.equal('');
    const slash = alice.slash(host.general, 'drink');
    await host.settled();
    expect(slash.messages.map(({ content }) => content).join('')).to.equal('');
    if (menu === undefined) throw new Error('there is no menu');
    const before = host.general.messages.length;
    const click = alice.click(menu, 'Round');
    alice.react(menu, '👍');
    await host.settled();
    expect([click.messages.length, host.general.messages.length - before]).to.deep.equal([0, 0]);
    expect(await offered(alice)).to.deep.equal([]);
    expect(heard).to.deep.equal([]);
    expect(watched).to.include('hello there');
    expect(await say(bob, '!drink')).to.equal('Cheers');
    bob.react(menu, '👍');
    await host.settled();
    expect(heard).to.deep.equal(['!drink', 'reaction of bob']);

    expect(await say(host.you, '!block list')).to.include(`<@${alice.id}>`);
    expect(await say(host.you, '!access list')).to.include(`• deny everything for <@${alice.id}>`);
    expect(await say(host.you, `!access explain ${alice} drink`)).to.include(
      `✗ a rule of this server denies everything for <@${alice.id}>`,
    );
    expect(await say(host.you, `!diagnose ${alice} drink`)).to.match(
      /First obstacle\*\*: a rule of this server denies everything .*`block remove <@\d+>`/,
    );
    expect(await say(host.you, '!audit 20')).to.match(/drink — denied \(I do not answer you here/);
    expect(await say(host.you, `!block remove ${alice}`)).to.include('Not blocked any more');
    expect(await say(alice, '!drink')).to.equal('Cheers');
  });

  it('an ignored channel is silent for all; admins can undo it from there, and no one is locked out', async () => {
    const admins = host.guild.createRole({ name: 'Admins', permissions: ['ManageGuild'] });
    host.guild.giveRole(bob, admins);
    expect(await say(bob, '!ignore channel')).to.include(`in <#${host.general.id}>`);
    expect(await say(alice, '!drink')).to.equal('');
    expect(await say(bob, '!drink')).to.equal('');
    expect(await say(bob, '!ignore list')).to.include(`<#${host.general.id}>`);
    expect(await say(bob, '!ignore remove')).to.include('I listen again');
    expect(await say(alice, '!drink')).to.equal('Cheers');

    await say(bob, '!ignore server');
    expect(await say(alice, '!drink')).to.equal('');
    expect(await say(bob, '!ignore remove server')).to.include('I listen again');
    expect(await say(bob, '!block add Admins')).to.include('You have that role yourself');
    host.guild.takeRole(bob, admins);
    await host.settled();
    expect(await say(host.you, `!block add ${host.you}`)).to.include('You cannot block yourself');
  });

  it('an allow list is in force as long as it has entries', async () => {
    const regulars = host.guild.createRole({ name: 'Regulars' });
    host.guild.giveRole(bob, regulars);
    expect(await say(host.you, '!allowlist add Regulars')).to.include('everyone here who is not on it');
    expect([await say(alice, '!drink'), await say(bob, '!drink')]).to.deep.equal(['', 'Cheers']);
    await say(host.you, '!ignore channel');
    expect(await say(bob, '!drink')).to.equal('');
    await say(host.you, '!ignore remove');
    expect(await say(host.you, '!allowlist remove Regulars')).to.include('everyone can use me here again');
    expect(await say(alice, '!drink')).to.equal('Cheers');
  });

  it('a list whose only member has deleted their data says that it allows no one', async () => {
    await say(host.you, `!allowlist add ${bob}`);
    await host.resolve(PersonalDataStore).forget(bob.id);
    expect(await say(alice, '!drink')).to.equal('');
    expect(await say(host.you, '!allowlist list'))
      .to.include('No one is on the list')
      .and.include('ignore remove server');
    await say(host.you, '!ignore remove server');
    expect(await say(alice, '!drink')).to.equal('Cheers');
  });

  it('a list stays in force when an admin removes the last entry while another admin adds one', async () => {
    await say(host.you, `!allowlist add ${bob}`);
    host.you.say(host.general, `!allowlist remove ${bob}`);
    host.you.say(host.general, `!allowlist add ${alice}`);
    await host.settled();
    const rules = await host.resolve(AccessRules).list(host.guild.id);
    expect(rules.map(({ effect, subject }) => `${effect} ${subject.kind}`)).to.have.members([
      'deny everyone',
      'allow user',
    ]);
  });

  it('is reported when a rule about everything silences it', async () => {
    expect(await say(host.you, '!access deny everything everyone')).to.equal(
      'Denied: everything for everyone. I give no answer then, not even a refusal. Admins can still use the commands that control me.',
    );
    expect(await say(host.you, `!access deny everything ${alice}`)).to.match(/not even a refusal\.$/);
  });

  it("the rules of the bot's owner bind every server, direct messages too, and are for the owner alone", async () => {
    const asOwner = (text: string) => say(host.you, text);
    expect(await say(alice, `!access global deny everything ${bob}`)).to.include('You may not do that');
    expect(await asOwner(`!access global deny everything ${alice}`)).to.include('Denied: everything');
    expect(await host.resolve(AccessRules).list(null)).to.deep.equal([
      { effect: 'deny', target: EVERYTHING, subject: { kind: 'user', id: alice.id } },
    ]);
    await say(host.you, `!access allow everything ${alice}`);
    expect(await say(alice, '!drink')).to.equal('');
    const dm = alice.openDm(host.application);
    const before = dm.messages.length;
    alice.say(dm, '!drink');
    await host.settled();
    expect(dm.messages.slice(before).filter(({ author }) => author.bot)).to.have.length(0);
    expect(await asOwner(`!access explain ${alice} drink`)).to.include('a rule of the bot’s owner denies everything');
    await asOwner('!access global clear all');
    expect(await say(alice, '!drink')).to.equal('Cheers');

    await asOwner('!access global deny everything servers');
    expect(await say(alice, '!drink')).to.equal('');
    expect(await host.resolve(Access).ignores({ ...actorOf(alice), guildId: null, channelId: dm.id })).to.equal(false);
    await asOwner('!access global allow everything here');
    expect(await say(alice, '!drink')).to.equal('Cheers');
    await asOwner('!access global deny drink everyone');
    await say(host.you, '!access allow drink everyone');
    expect(await say(alice, '!drink')).to.include('a rule of the bot’s owner denies the command `drink` for everyone');
  });

  it('a server that the owner refuses is left when that is wanted', async () => {
    const guild = host.discord.createGuild({ name: 'Elsewhere', owner: bob });
    await say(host.you, `!access global deny everything server:${guild.id}`);
    await say(host.you, '!set admin refusedServers leave');
    guild.invite(host.application);
    await host.settled();
    expect(host.client.guilds.cache.has(guild.id)).to.equal(false);
    await say(host.you, '!unset admin refusedServers');
    guild.invite(host.application);
    await host.settled();
    expect(host.client.guilds.cache.has(guild.id)).to.equal(true);
    await say(host.you, '!access global leave');
    const question = host.general.messages.at(-1);
    if (question !== undefined) host.you.click(question, 'Leave');
    await host.settled();
    expect(host.client.guilds.cache.has(guild.id)).to.equal(false);
  });
});
