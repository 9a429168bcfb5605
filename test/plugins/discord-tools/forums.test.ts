import type { LocalChannel } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { type Harness, openToolsHarness } from './harness.js';

describe('discord-tools: forums and threads', () => {
  let harness: Harness;
  let forum: LocalChannel;
  before(async () => {
    harness = await openToolsHarness();
    const tag = (name: string, moderated = false) => ({ name, moderated, emojiName: null });
    const availableTags = [tag('Bug'), tag('Idea'), tag('Official', true)];
    forum = harness.guild.createChannel({ name: 'feedback', type: 'forum', topic: 'Tell us', availableTags });
    await harness.host.settled();
  });
  after(() => harness[Symbol.asyncDispose]());

  const postsNamed = (name: string) => [...harness.guild.threads.values()].filter((thread) => thread.name === name);
  const create = async (title: string, input: object = {}) => {
    const given = { forumChannelId: forum.id, title, content: 'It broke.', ...input };
    await harness.done(harness.alice, 'discord_create_forum_post', given);
    const [post] = postsNamed(title);
    if (post === undefined) throw new Error('there is no post');
    return post;
  };

  it('lists forums and their tags', async () => {
    const { alice, guild } = harness;
    const forums = await harness.done(alice, 'discord_get_forum_channels', { guildId: guild.id });
    expect(forums).to.contain(`**feedback** (forum ${forum.id})`).and.contain('**Bug**, **Idea**, **Official**');
    expect(await harness.done(alice, 'discord_get_forum_tags', { forumChannelId: forum.id })).to.contain(
      'for moderators',
    );
  });

  it('creates a post with tags, and goes on in it when it is long', async () => {
    const post = await create('Crash', { tags: ['bug', 'IDEA'], content: 'word '.repeat(700) });
    expect(post.messages).to.have.length(2);
    const names = post.thread?.appliedTags.map((id) => forum.availableTags.find((tag) => tag.id === id)?.name);
    expect(names).to.deep.equal(['Bug', 'Idea']);
  });

  it('knows which tags there are, and which are for moderators', async () => {
    const { alice, mod } = harness;
    const given = (tags: string[]) => ({ forumChannelId: forum.id, title: 'Tagged', content: 'hi', tags });
    expect(await harness.refused(alice, 'discord_create_forum_post', given(['Nonsense']))).to.contain(
      '**Bug**, **Idea**, **Official**',
    );
    expect(await harness.refused(alice, 'discord_create_forum_post', given(['Official']))).to.contain('moderators');
    await harness.done(mod, 'discord_create_forum_post', given(['Official']));
    expect(postsNamed('Tagged')).to.have.length(1);
  });

  it('shows a post with what it began with and its answers', async () => {
    const { alice, bob } = harness;
    const post = await create('Question', { tags: ['Idea'] });
    await harness.done(bob, 'discord_reply_to_forum', { threadId: post.id, message: 'Me, too.' });
    const text = await harness.done(alice, 'discord_get_forum_post', { threadId: post.id });
    expect(text).to.match(
      /Question\*\* \(thread \d+\).*tags \*\*Idea\*\*[\s\S]*> It broke\.[\s\S]*latest answers[\s\S]*> Me, too\./,
    );
    const list = await harness.done(alice, 'discord_list_forum_threads', { forumChannelId: forum.id });
    expect(list).to.contain('Question');
  });

  it('lets members change and delete posts that were made for them, and moderators every post', async () => {
    const { alice, bob, mod } = harness;
    const [first, second] = [await create('First'), await create('Second')];
    const rename = (post: LocalChannel) => ({ threadId: post.id, name: `${post.name}!`, archived: false });
    expect(await harness.refused(bob, 'discord_update_forum_post', rename(first))).to.contain('Manage Threads');
    await harness.done(alice, 'discord_update_forum_post', rename(first));
    expect(first.name).to.equal('First!');
    const lock = { threadId: first.id, locked: true };
    expect(await harness.refused(alice, 'discord_update_forum_post', lock)).to.contain('Manage Threads');
    await harness.done(mod, 'discord_update_forum_post', { ...lock, tags: ['Bug'], archived: true });
    expect(first.thread).to.include({ locked: true, archived: true });
    await harness.refused(bob, 'discord_delete_forum_post', { threadId: second.id });
    await harness.done(alice, 'discord_delete_forum_post', { threadId: second.id });
    await harness.done(mod, 'discord_delete_forum_post', { threadId: first.id });
    expect([first.deleted, second.deleted]).to.deep.equal([true, true]);
  });

  it('sets tags, and keeps those whose name stays', async () => {
    const { mod } = harness;
    const bug = forum.availableTags.find(({ name }) => name === 'Bug');
    const tags = [
      { name: 'Bug', emoji: '🐛' },
      { name: 'Question', moderated: true },
    ];
    const text = await harness.done(mod, 'discord_set_forum_tags', { forumChannelId: forum.id, tags });
    expect(forum.availableTags.map(({ name }) => name)).to.deep.equal(['Bug', 'Question']);
    expect(forum.availableTags[0]).to.include({ id: bug?.id, emojiName: '🐛' });
    expect(text).to.contain('🐛 **Bug**').and.contain('for moderators');
  });

  it('starts threads: open, private, or from a message', async () => {
    const { alice, bob, guild, general } = harness;
    const message = bob.say(general, 'let us talk');
    const start = (input: object) => harness.done(alice, 'discord_create_thread', { channelId: general.id, ...input });
    await start({ name: 'from it', messageId: message.id, message: 'gladly' });
    expect(message.thread?.messages.at(-1)?.content).to.equal('gladly');
    await start({ name: 'apart' });
    await start({ name: 'alone', private: true });
    expect(postsNamed('apart')).to.have.length(1);
    guild.overwrite(general, { for: alice, deny: ['CreatePrivateThreads'] });
    await harness.host.settled();
    const again = { channelId: general.id, name: 'no', private: true };
    expect(await harness.refused(alice, 'discord_create_thread', again)).to.contain('Create Private Threads');
  });

  it('writes in a locked thread only for members who manage threads', async () => {
    const { alice, mod, general, host } = harness;
    const thread = alice.startThread(general, 'closed', { content: 'hi' });
    await host.settled();
    await harness.done(mod, 'discord_archive_thread', { threadId: thread.id, archived: false, locked: true });
    const input = { channelId: thread.id, message: 'one more thing' };
    expect(await harness.refused(alice, 'discord_send', input)).to.contain('Manage Threads');
    await harness.done(mod, 'discord_send', input);
    expect(thread.messages.at(-1)?.content).to.equal('one more thing');
  });

  it('archives, opens, joins and deletes threads', async () => {
    const { alice, bob, mod, general, host } = harness;
    const thread = bob.startThread(general, 'busy', { content: 'hi' });
    await host.settled();
    const on = { threadId: thread.id };
    expect(await harness.refused(alice, 'discord_archive_thread', on)).to.contain('Manage Threads');
    await harness.done(bob, 'discord_archive_thread', on);
    expect(thread.thread?.archived).to.equal(true);
    const listed = (includeArchived: boolean) =>
      harness.done(alice, 'discord_list_threads', { channelId: general.id, includeArchived });
    expect(await listed(false)).to.not.contain('busy');
    expect(await listed(true)).to.contain('busy');
    await harness.done(mod, 'discord_archive_thread', { ...on, archived: false });
    await harness.done(alice, 'discord_join_thread', on);
    expect(thread.thread?.members.has(host.bot.id)).to.equal(true);
    await harness.done(mod, 'discord_delete_thread', on);
    expect(thread.deleted).to.equal(true);
  });
});
