import { expect } from 'chai';
import { type Harness, openToolsHarness } from './harness.js';
import { firstId } from './things.js';

describe('discord-tools: threads', () => {
  let harness: Harness;
  before(async () => {
    harness = await openToolsHarness();
  });
  after(() => harness[Symbol.asyncDispose]());

  const start = async (name: string, input: object = {}) => {
    const given = { channelId: harness.general.id, name, ...input };
    const id = firstId(await harness.done(harness.alice, 'discord_create_thread', given));
    const thread = harness.guild.threads.get(id);
    if (thread === undefined) throw new Error('there is no thread');
    return thread;
  };

  it('adds only the requester to a private thread', async () => {
    const { alice, bob } = harness;
    const thread = await start('between us', { private: true, message: 'hello' });
    const input = { channelId: thread.id, message: 'still here' };
    await harness.done(alice, 'discord_send', input);
    expect(thread.messages.map(({ content }) => content)).to.include('still here');
    expect(await harness.refused(bob, 'discord_send', input)).to.contain('out of reach');
  });

  it('leaves a thread that moderators locked to them', async () => {
    const { alice, mod } = harness;
    const { id: threadId, thread } = await start('heated');
    await harness.done(mod, 'discord_archive_thread', { threadId, locked: true });
    const opening = { threadId, archived: false };
    expect(await harness.refused(alice, 'discord_archive_thread', opening)).to.equal(
      'You need Manage Threads for that.',
    );
    expect(thread).to.include({ archived: true, locked: true });
    await harness.done(mod, 'discord_archive_thread', opening);
    expect(thread?.archived).to.equal(false);
  });

  it('leaves a post that moderators locked to them', async () => {
    const { alice, mod, guild, host } = harness;
    const forum = guild.createChannel({ name: 'debates', type: 'forum' });
    await host.settled();
    const post = { forumChannelId: forum.id, title: 'Heated', content: 'hm' };
    const threadId = firstId(await harness.done(alice, 'discord_create_forum_post', post));
    await harness.done(mod, 'discord_update_forum_post', { threadId, locked: true });
    for (const change of [{ archived: false }, { name: 'Cooler' }]) {
      const said = await harness.refused(alice, 'discord_update_forum_post', { threadId, ...change });
      expect(said).to.equal('You need Manage Threads for that.');
    }
  });

  it('speaks in a locked one through a webhook for moderators of threads only', async () => {
    const { alice, guild, general, host, mod } = harness;
    const role = guild.createRole({ name: 'Radio', permissions: ['ManageWebhooks'], position: 2 });
    guild.giveRole(alice, role);
    const { id: threadId } = await start('on air');
    await host.settled();
    const webhookId = firstId(
      await harness.done(alice, 'discord_create_webhook', { channelId: general.id, name: 'Radio' }),
    );
    const input = { webhookId, threadId, content: 'one more thing' };
    await harness.done(alice, 'discord_send_webhook_message', input);
    await harness.done(mod, 'discord_archive_thread', { threadId, locked: true, archived: false });
    expect(await harness.refused(alice, 'discord_send_webhook_message', input)).to.contain('Manage Threads');
    await harness.done(mod, 'discord_send_webhook_message', input);
  });
});
