import { Identities, Plugins, ToolPolicies } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Harness, openToolsHarness } from './harness.js';

const NOWHERE = '1456074443980899999';

describe('discord-tools: places', () => {
  let harness: Harness;
  before(async () => {
    harness = await openToolsHarness();
  });
  after(() => harness[Symbol.asyncDispose]());

  it('takes a channel as id, mention or link', async () => {
    const { alice, guild, general } = harness;
    alice.say(general, 'here I am');
    const link = `https://discord.com/channels/${guild.id}/${general.id}`;
    for (const channelId of [general.id, `<#${general.id}>`, link, `${link}/`, `<${link}>`, ` ${general.id} `]) {
      expect(await harness.done(alice, 'discord_read_messages', { channelId })).to.contain('here I am');
    }
    const said = await harness.refused(alice, 'discord_read_messages', { channelId: 'general' });
    expect(said).to.contain('A channel is given as its id');
  });

  it('goes where the link to a message leads, not where the channel beside it says', async () => {
    const { alice, bob, guild, general } = harness;
    const side = guild.createChannel({ name: 'side' });
    const message = bob.say(side, 'over there');
    await harness.host.settled();
    const messageId = `https://discord.com/channels/${guild.id}/${side.id}/${message.id}`;
    expect(await harness.done(alice, 'discord_read_message', { channelId: general.id, messageId })).to.contain(
      'over there',
    );
    const wrong = `https://discord.com/channels/${general.id}/${side.id}/${message.id}`;
    await harness.refused(alice, 'discord_read_message', { channelId: general.id, messageId: wrong });
  });

  it('treats a channel of another server like an unknown one', async () => {
    const { alice, host, stranger } = harness;
    const other = host.discord.createGuild({ name: 'Arasaka', owner: stranger });
    other.invite(host.application);
    const room = other.createChannel({ name: 'boardroom' });
    await host.settled();
    const unknown = await harness.refused(alice, 'discord_send', { channelId: NOWHERE, message: 'hi' });
    const refusal = () => harness.refused(alice, 'discord_send', { channelId: room.id, message: 'hi' });
    expect(await refusal()).to.equal(unknown);
    await host.resolve(Plugins).disable(other.id, 'discord-tools');
    expect(await refusal(), 'where the plugin is off').to.equal(unknown);
    await host.resolve(Plugins).enable(other.id, 'discord-tools');
    await host.resolve(ToolPolicies).set(other.id, 'discord_send', 'deny');
    expect(await refusal(), 'where the tool is forbidden').to.equal(unknown);
    expect(await harness.done(alice, 'discord_list_servers', {})).to.not.contain('Arasaka');
    const info = await harness.refused(alice, 'discord_get_server_info', { guildId: other.id });
    expect(info).to.equal(await harness.refused(alice, 'discord_get_server_info', { guildId: NOWHERE }));
  });

  it('reveals no places to an agent through tools that it was not granted', async () => {
    const { guild, general, owner, host } = harness;
    const hidden = guild.createChannel({ name: 'hidden' });
    await host.settled();
    const tools = { discord_send: 'allow' } as const;
    const grant = { guildId: guild.id, userId: owner.id, channelId: general.id, channels: [general.id], tools };
    await host.resolve(Identities).save({ id: 'test:mute', plugin: 'discord-tools', name: 'Mute', grants: [grant] });
    const asAgent = (channelId: string) =>
      harness.refused(owner, 'discord_read_messages', { channelId }, { identity: 'test:mute' });
    expect(await asAgent(hidden.id)).to.equal(await asAgent(NOWHERE));
  });

  it('reaches, from a direct message, the channels that the person can see, and that conversation', async () => {
    const { alice, bob, guild, general, host } = harness;
    const dm = alice.openDm(host.bot);
    const hidden = guild.createChannel({ name: 'hidden' });
    guild.overwrite(hidden, { for: guild.everyone, deny: ['ViewChannel'] });
    alice.say(dm, 'between us');
    await host.settled();
    const from = { channel: dm };
    await harness.done(alice, 'discord_send', { channelId: general.id, message: 'from afar' }, from);
    expect(general.messages.at(-1)?.content).to.equal('from afar');
    expect(await harness.done(alice, 'discord_read_messages', { channelId: dm.id }, from)).to.contain('between us');
    await harness.done(alice, 'discord_send', { channelId: dm.id, message: 'yes' }, from);
    expect(dm.messages.at(-1)?.content).to.equal(`-# for ${alice}\nyes`);
    await harness.refused(alice, 'discord_read_messages', { channelId: hidden.id }, from);

    const bobs = bob.openDm(host.bot);
    bob.say(bobs, 'a secret of bob');
    await host.settled();
    expect(await harness.refused(alice, 'discord_read_messages', { channelId: bobs.id }, from)).to.not.contain(
      'secret',
    );
    await harness.refused(alice, 'discord_read_messages', { channelId: dm.id });
  });

  it('lists, from a direct message, the servers that the person is in, and asks Discord once about each', async () => {
    const { alice, host, stranger, guild } = harness;
    const from = { channel: alice.openDm(host.bot) };
    const far = host.discord.createGuild({ name: 'Far away', owner: stranger });
    for (const name of ['one', 'two', 'three']) far.createChannel({ name });
    far.invite(host.application);
    await host.settled();
    host.discord.requests.reset();
    expect(await harness.done(alice, 'discord_list_servers', {}, from)).to.equal(`**Night City** (server ${guild.id})`);
    const asked = host.discord.requests.of('GET', '/guilds/:guildId/members/:userId');
    expect(asked.filter(({ path }) => path.includes(far.id))).to.have.length(1);
    await harness.refused(alice, 'discord_get_server_info', { guildId: far.id }, from);
  });

  it('reaches private threads only for their members and for moderators of threads', async () => {
    const { alice, bob, mod, general } = harness;
    const thread = bob.startThread(general, 'whispers', { private: true, content: 'psst' });
    await harness.host.settled();
    const read = { channelId: thread.id };
    await harness.refused(alice, 'discord_read_messages', read);
    expect(await harness.done(bob, 'discord_read_messages', read)).to.contain('psst');
    expect(await harness.done(mod, 'discord_read_messages', read)).to.contain('psst');
    const list = { channelId: general.id, includeArchived: true };
    expect(await harness.done(alice, 'discord_list_threads', list)).to.not.contain('whispers');
    expect(await harness.done(bob, 'discord_list_threads', list)).to.contain('whispers');
    const search = { guildId: harness.guild.id, content: 'psst' };
    expect(await harness.done(alice, 'discord_search_messages', search)).to.equal('No messages found.');
    expect(await harness.done(bob, 'discord_search_messages', search)).to.contain('> psst');
  });

  it('keeps, from a direct message, to the policies of the server that a call looks over', async () => {
    const { alice, guild, general, host } = harness;
    const from = { channel: alice.openDm(host.bot) };
    await host.settled();
    const search = { guildId: guild.id, content: 'here' };
    await harness.done(alice, 'discord_search_messages', search, from);
    const policies = host.resolve(ToolPolicies);
    for (const policy of ['deny', 'confirm'] as const) {
      await policies.set(guild.id, 'discord_search_messages', policy);
      await harness.refused(alice, 'discord_search_messages', search, from);
      await harness.refused(alice, 'discord_search_messages', { ...search, channelId: general.id }, from);
    }
    await policies.clear(guild.id, 'discord_search_messages');
  });

  it('shows of a server only the channels that the person sees', async () => {
    const { alice, mod, guild } = harness;
    const backstage = guild.createChannel({ name: 'backstage', topic: 'the plan' });
    guild.overwrite(backstage, { for: guild.everyone, deny: ['ViewChannel'] });
    guild.overwrite(backstage, { for: harness.modRole, allow: ['ViewChannel'] });
    const [bot] = [...guild.roles.values()].filter(({ botId }) => botId !== undefined);
    if (bot !== undefined) guild.overwrite(backstage, { for: bot, allow: ['ViewChannel'] });
    await harness.host.settled();
    const info = { guildId: guild.id };
    expect(await harness.done(alice, 'discord_get_server_info', info))
      .to.contain('general')
      .and.not.contain('backstage');
    expect(await harness.done(mod, 'discord_get_server_info', info))
      .to.contain('backstage')
      .and.contain('the plan');
  });

  it('says in words what Discord refuses', async () => {
    const { alice, mod, general } = harness;
    const ask = (tool: string, input: object) => harness.refused(mod, tool, { channelId: general.id, ...input });
    expect(await ask('discord_read_message', { messageId: NOWHERE })).to.equal(
      'There is no message with that id there.',
    );
    expect(await ask('discord_create_webhook', { name: 'discord fan' })).to.contain(
      'Discord does not accept that: name:',
    );
    const message = alice.say(general, 'react to me');
    const odd = { messageId: message.id, emoji: '<:gone:1456074443980899999>' };
    expect(await ask('discord_add_reaction', odd)).to.contain('emoji');
  });
});
