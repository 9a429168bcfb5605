import { expect } from 'chai';
import { ChannelType } from 'discord.js';
import { chatter, type HistoryHarness, openHistory } from './harness.js';

describe('chat history: threads', () => {
  let room: HistoryHarness;
  beforeEach(async () => {
    room = await openHistory();
  });
  afterEach(() => room[Symbol.asyncDispose]());

  it('go on from the message that they hang on, and what was before it', async () => {
    const { host, lines } = room;
    const [, start] = chatter(host.bob, host.general, 2);
    if (!start) throw new Error('nothing was said');
    const thread = host.alice.startThread(start, 'aside');
    host.bob.say(host.general, 'afterwards');
    host.alice.say(thread, 'in the thread');
    expect(await lines(thread)).to.deep.equal(['bob: message 1', 'bob: message 2', 'alice: in the thread']);
    host.alice.say(thread, 'more');
    room.requests();
    expect(await lines(thread)).to.have.length(4);
    expect(room.requests()).to.equal(0);
  });

  it('that hang on no message go on from when they were made', async () => {
    const { host, read } = room;
    host.bob.say(host.general, 'before');
    const thread = host.alice.startThread(host.general, 'aside');
    host.bob.say(host.general, 'afterwards');
    host.alice.say(thread, 'in the thread');
    const { messages, whole } = await read(thread);
    expect(messages.map(({ content }) => content).filter((content) => content !== '')).to.deep.equal([
      'before',
      'in the thread',
    ]);
    expect(whole).to.equal(true);
  });

  it('leave their channel alone when they fill the window themselves', async () => {
    const { host, read } = room;
    const start = host.bob.say(host.general, 'start');
    const thread = host.alice.startThread(start, 'aside');
    chatter(host.alice, thread, 12);
    const { messages, whole } = await read(thread, { limit: 10 });
    expect(messages.map(({ channelId }) => channelId)).to.deep.equal(Array.from({ length: 10 }, () => thread.id));
    expect(whole).to.equal(false);
    expect(room.pages()).to.equal(1);
    expect((await read(thread, { limit: 13 })).messages[0]?.content).to.equal('start');
  });

  it('of a forum begin with their post', async () => {
    const { host, lines } = room;
    const forum = host.guild.createChannel({ name: 'ideas', type: ChannelType.GuildForum });
    const post = host.alice.startThread(forum, 'An idea', { content: 'What if?' });
    host.bob.say(post, 'Why not');
    expect(await lines(post)).to.deep.equal(['alice: What if?', 'bob: Why not']);
  });

  it('follow .history in their channel', async () => {
    const { host, lines } = room;
    host.bob.say(host.general, 'hidden');
    host.you.say(host.general, '.history');
    const start = host.bob.say(host.general, 'start');
    const thread = host.alice.startThread(start, 'aside');
    host.alice.say(thread, 'in the thread');
    expect(await lines(thread)).to.deep.equal(['you: .history', 'bob: start', 'alice: in the thread']);
  });
});
