import { expect } from 'chai';
import { ChannelType, type Client, Events, ThreadAutoArchiveDuration } from 'discord.js';
import { codeOf, type NightCity, next, nightCity, refusal, textChannel } from './support.js';

describe('local Discord: threads', () => {
  let city: NightCity;
  let client: Client<true>;
  beforeEach(async () => {
    city = await nightCity();
    client = await city.login();
  });
  afterEach(() => city.close());

  const parent = () => {
    const channel = textChannel(client, city.general.id);
    if (channel.type !== ChannelType.GuildText) throw new Error('No text channel.');
    return channel;
  };

  it('start from a message, whose id they have', async () => {
    const { alice, general } = city;
    const said = alice.say(general, 'discuss');
    const created = next(client, Events.ThreadCreate);
    const thread = await (await parent().messages.fetch(said.id)).startThread({ name: 'Discussion' });
    expect((await created)[0].id).to.equal(thread.id);
    expect(thread.id).to.equal(said.id);
    expect(said.thread?.name).to.equal('Discussion');
    const answer = await thread.send('in the thread');
    expect(answer.channel.isThread()).to.be.true;
    const again = client.rest.post(`/channels/${general.id}/messages/${said.id}/threads`, { body: { name: 'Again' } });
    await refusal(again, 160004);
  });

  it('are gone when they were deleted, also with the message that they hung on', async () => {
    const { alice, general, guild } = city;
    const said = alice.say(general, 'discuss');
    const thread = alice.startThread(said, 'Discussion');
    const deleted = next(client, Events.ThreadDelete);
    guild.deleteChannel(thread);
    await deleted;
    const message = await parent().messages.fetch({ message: said.id, force: true });
    expect(message.hasThread).to.equal(false);
    expect(client.channels.cache.has(thread.id)).to.equal(false);
  });

  it('are heard like channels, and may be kept private', async () => {
    const { alice, app, discord, general, guild, you } = city;
    guild.overwrite(general, { for: app.user, deny: ['ManageThreads'] });
    const heard: string[] = [];
    client.on(Events.MessageCreate, (message) => void heard.push(message.content));
    const open = you.startThread(general, 'open');
    const closed = you.startThread(general, 'closed', { private: true });
    you.say(open, 'for all');
    you.say(closed, 'for few');
    await discord.settled();
    expect(heard).to.deep.equal(['for all']);
    expect(codeOf(() => alice.say(closed, 'x'))).to.equal(50001);
  });

  it('take members in and let them go', async () => {
    const { alice } = city;
    const thread = await parent().threads.create({ name: 'secret', type: ChannelType.PrivateThread });
    await thread.members.add(alice.id);
    const stored = city.guild.threads.get(thread.id);
    if (!stored) throw new Error('No thread.');
    alice.say(stored, 'I am in');
    expect((await thread.members.fetch()).size).to.equal(2);
    await thread.members.remove(alice.id);
    expect(codeOf(() => alice.say(stored, 'I am out'))).to.equal(50001);
  });

  it('are archived, and open again at the next message; locked ones stay closed', async () => {
    const { alice, guild } = city;
    const thread = await parent().threads.create({
      name: 'topic',
      autoArchiveDuration: ThreadAutoArchiveDuration.OneHour,
    });
    const stored = guild.threads.get(thread.id);
    if (!stored?.thread) throw new Error('No thread.');
    await thread.setArchived(true);
    expect((await parent().threads.fetchArchived()).threads.size).to.equal(1);
    expect((await parent().threads.fetchActive()).threads.size).to.equal(0);
    alice.say(stored, 'wake up');
    expect(stored.thread.archived).to.be.false;
    await city.discord.settled();
    await thread.setLocked(true);
    expect(codeOf(() => alice.say(stored, 'x'))).to.equal(160005);
    const deleted = next(client, Events.ThreadDelete);
    await thread.delete();
    expect((await deleted)[0].id).to.equal(thread.id);
  });

  it('are the posts of a forum', async () => {
    const { alice, discord, guild } = city;
    const forum = guild.createChannel({
      name: 'help',
      type: 'forum',
      availableTags: [{ name: 'open', moderated: false, emojiName: null }],
    });
    await discord.settled();
    const channel = client.channels.cache.get(forum.id);
    if (channel?.type !== ChannelType.GuildForum) throw new Error('No forum.');
    const tag = channel.availableTags[0]?.id ?? '';
    const post = await channel.threads.create({ name: 'Question', message: { content: 'How?' }, appliedTags: [tag] });
    expect((await post.fetchStarterMessage())?.content).to.equal('How?');
    expect(post.appliedTags).to.deep.equal([tag]);
    expect(codeOf(() => alice.startThread(forum, 'Empty'))).to.equal(50006);
    expect(alice.startThread(forum, 'Mine', { content: 'Why?' }).messages.map(({ content }) => content)).to.deep.equal([
      'Why?',
    ]);
  });
});
