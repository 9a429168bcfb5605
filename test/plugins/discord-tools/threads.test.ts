import { expect } from 'chai';
import { type Bench, openBench } from './bench.js';
import { firstId } from './things.js';

describe('discord-tools: threads', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench[Symbol.asyncDispose]());

  const start = async (name: string, input: object = {}) => {
    const given = { channelId: bench.general.id, name, ...input };
    const id = firstId(await bench.done(bench.alice, 'discord_create_thread', given));
    const thread = bench.guild.threads.get(id);
    if (thread === undefined) throw new Error('there is no thread');
    return thread;
  };

  it('adds only the requester to a private thread', async () => {
    const { alice, bob } = bench;
    const thread = await start('between us', { private: true, message: 'hello' });
    const input = { channelId: thread.id, message: 'still here' };
    await bench.done(alice, 'discord_send', input);
    expect(thread.messages.map(({ content }) => content)).to.include('still here');
    expect(await bench.refused(bob, 'discord_send', input)).to.contain('out of reach');
  });

  it('leaves a thread that moderators locked to them', async () => {
    const { alice, mod } = bench;
    const { id: threadId, thread } = await start('heated');
    await bench.done(mod, 'discord_archive_thread', { threadId, locked: true });
    const opening = { threadId, archived: false };
    expect(await bench.refused(alice, 'discord_archive_thread', opening)).to.equal('You need Manage Threads for that.');
    expect(thread).to.include({ archived: true, locked: true });
    await bench.done(mod, 'discord_archive_thread', opening);
    expect(thread?.archived).to.equal(false);
  });

  it('leaves a post that moderators locked to them', async () => {
    const { alice, mod, guild, host } = bench;
    const forum = guild.createChannel({ name: 'debates', type: 'forum' });
    await host.settled();
    const post = { forumChannelId: forum.id, title: 'Heated', content: 'hm' };
    const threadId = firstId(await bench.done(alice, 'discord_create_forum_post', post));
    await bench.done(mod, 'discord_update_forum_post', { threadId, locked: true });
    for (const change of [{ archived: false }, { name: 'Cooler' }]) {
      const said = await bench.refused(alice, 'discord_update_forum_post', { threadId, ...change });
      expect(said).to.equal('You need Manage Threads for that.');
    }
  });

  it('speaks in a locked one through a webhook for moderators of threads only', async () => {
    const { alice, guild, general, host, mod } = bench;
    const role = guild.createRole({ name: 'Radio', permissions: ['ManageWebhooks'], position: 2 });
    guild.giveRole(alice, role);
    const { id: threadId } = await start('on air');
    await host.settled();
    const webhookId = firstId(
      await bench.done(alice, 'discord_create_webhook', { channelId: general.id, name: 'Radio' }),
    );
    const input = { webhookId, threadId, content: 'one more thing' };
    await bench.done(alice, 'discord_send_webhook_message', input);
    await bench.done(mod, 'discord_archive_thread', { threadId, locked: true, archived: false });
    expect(await bench.refused(alice, 'discord_send_webhook_message', input)).to.contain('Manage Threads');
    await bench.done(mod, 'discord_send_webhook_message', input);
  });
});
