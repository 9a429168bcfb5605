import type { LocalUser } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { type Harness, openToolsHarness } from './harness.js';

describe('discord-tools: whom a message pings', () => {
  let harness: Harness;
  before(async () => {
    harness = await openToolsHarness();
  });
  after(() => harness[Symbol.asyncDispose]());

  const pinged = async (by: LocalUser, message: string, channel = harness.general) => {
    await harness.done(by, 'discord_send', { channelId: channel.id, message });
    const { everyone, users, roles } = channel.messages.at(-1)?.mentions ?? { everyone: true, users: [], roles: [] };
    return { everyone, users: users.map(({ username }) => username), roles: roles.map(({ name }) => name) };
  };

  it('members who can see the channel', async () => {
    const { alice, bob } = harness;
    expect((await pinged(alice, `hello ${bob}`)).users).to.deep.equal(['bob']);
  });

  it('no one outside of the guild, and no one who cannot see the channel', async () => {
    const { alice, bob, guild, stranger } = harness;
    const nook = guild.createChannel({ name: 'nook' });
    guild.overwrite(nook, { for: bob, deny: ['ViewChannel'] });
    await harness.host.settled();
    expect((await pinged(alice, `hello ${bob} and ${stranger}`, nook)).users).to.deep.equal([]);
  });

  it('no one to a private thread', async () => {
    const { alice, bob, mod, general } = harness;
    const thread = alice.startThread(general, 'two of us', { private: true });
    await harness.host.settled();
    expect((await pinged(alice, `${alice} ${bob} ${mod}`, thread)).users).to.have.members(['alice', 'mona']);
  });

  it('no role into a private thread, except by members who may add everyone', async () => {
    const { alice, owner, guild, general } = harness;
    const role = guild.createRole({ name: 'Onlookers', mentionable: true, position: 3 });
    const thread = alice.startThread(general, 'just us', { private: true });
    await harness.host.settled();
    expect((await pinged(alice, `<@&${role.id}> look`, thread)).roles).to.deep.equal([]);
    expect((await pinged(owner, `<@&${role.id}> look`, thread)).roles).to.deep.equal(['Onlookers']);
  });

  it('never @everyone, nor a role, without the permission', async () => {
    const { alice, modRole } = harness;
    const nobody = { everyone: false, users: [], roles: [] };
    expect(await pinged(alice, '@everyone @here look')).to.deep.equal(nobody);
    expect(await pinged(alice, `<@&${modRole.id}> help`)).to.deep.equal(nobody);
  });

  it('a role that every member may mention', async () => {
    const { alice, guild } = harness;
    const role = guild.createRole({ name: 'Netrunners', mentionable: true, position: 3 });
    await harness.host.settled();
    expect((await pinged(alice, `<@&${role.id}> wake up`)).roles).to.deep.equal(['Netrunners']);
  });

  it('@everyone and roles with the permission', async () => {
    const { owner, modRole } = harness;
    expect((await pinged(owner, '@everyone look')).everyone).to.equal(true);
    expect((await pinged(owner, `<@&${modRole.id}> look`)).roles).to.deep.equal(['Moderators']);
  });

  it('not the author of the answered message, when they cannot see the channel any more', async () => {
    const { alice, bob, guild, host } = harness;
    const hall = guild.createChannel({ name: 'hall' });
    const question = bob.say(hall, 'hm?');
    guild.overwrite(hall, { for: bob, deny: ['ViewChannel'] });
    await host.settled();
    await harness.done(alice, 'discord_send', { channelId: hall.id, message: 'yes', replyToMessageId: question.id });
    expect(hall.messages.at(-1)?.replyTo).to.equal(question);
    expect(hall.messages.at(-1)?.mentions.users).to.deep.equal([]);
  });

  it('no additional members by an edit, a forum post, a reply in it or a webhook', async () => {
    const { alice, mod, guild, general, host, stranger } = harness;
    const forum = guild.createChannel({ name: 'ideas', type: 'forum' });
    await host.settled();
    const loud = `@everyone <@&${harness.modRole.id}> ${stranger}`;
    const asSent = () => host.discord.requests.all.at(-1)?.body;
    const nobody = { parse: [], users: [], roles: [] };

    const sent = await harness.done(alice, 'discord_send', { channelId: general.id, message: 'hush' });
    const messageId = /message (\d+)/.exec(sent)?.[1];
    host.discord.requests.reset();
    await harness.done(alice, 'discord_edit_message', { channelId: general.id, messageId, content: loud });
    expect(asSent()).to.have.property('allowed_mentions').that.includes.deep.keys(Object.keys(nobody));
    expect(asSent()).to.have.deep.nested.property('allowed_mentions.parse', []);

    const posted = await harness.done(alice, 'discord_create_forum_post', {
      forumChannelId: forum.id,
      title: 'Loud',
      content: loud,
    });
    const [thread] = [...guild.threads.values()].filter(({ parent }) => parent === forum);
    expect(posted).to.contain(thread?.id);
    await harness.done(alice, 'discord_reply_to_forum', { threadId: thread?.id, message: loud });
    const made = await harness.done(mod, 'discord_create_webhook', { channelId: general.id, name: 'crier' });
    const webhookId = /\((\d+)\)/.exec(made)?.[1];
    await harness.done(mod, 'discord_send_webhook_message', { webhookId, content: loud });

    for (const message of [...(thread?.messages ?? []), ...general.messages.slice(-1)]) {
      expect(message.content).to.contain('@everyone');
      expect(message.mentions).to.deep.equal({ everyone: false, users: [], roles: [] });
    }
  });
});
