import { expect } from 'chai';
import { chatter, type HistoryHarness, openHistory } from './harness.js';

describe('chat history: kept live', () => {
  let room: HistoryHarness;
  beforeEach(async () => {
    room = await openHistory();
  });
  afterEach(() => room[Symbol.asyncDispose]());

  it('fetches four pages of a hundred for a window of 400, and nothing more when it is read again', async () => {
    const { host, read } = room;
    chatter(host.bob, host.general, 450);
    const cold = await read();
    expect(cold.messages.map(({ content }) => content)).to.deep.equal(
      Array.from({ length: 400 }, (_, at) => `message ${at + 51}`),
    );
    expect(cold).to.include({ restCalls: 4, whole: false });
    expect(room.pages()).to.equal(4);
    room.requests();
    host.bob.say(host.general, 'one more');
    const warm = await read();
    expect(warm.messages).to.have.length(400);
    expect(warm.messages.at(-1)?.content).to.equal('one more');
    expect(warm.restCalls).to.equal(0);
    expect(room.requests()).to.equal(0);
  });

  it('is asked for again after 1, 2, 4 … seconds up to the maximum while Discord fails, then given up', async () => {
    const { host, readNow } = room;
    await host.settled();
    const failing = { method: 'GET', route: '/channels/:channelId/messages' } as const;
    host.discord.faults.rest.fail(502, { ...failing, times: Number.POSITIVE_INFINITY });
    for (const [backoffMaxMs, waits] of [
      [8_000, [1, 2, 4, 8]],
      [1_500, [1, 1.5]],
    ] as const) {
      const logged = host.log.length;
      let isOver = false;
      const reading = readNow(host.general, { backoffMaxMs })
        .then(() => 'read', String)
        .finally(() => {
          isOver = true;
        });
      while (!isOver) {
        await host.discord.settled();
        host.clock.advance(500);
      }
      expect(await reading).to.include('HTTPError');
      const said = host.log.slice(logged).map(({ message }) => /trying again in ([\d.]+) s/.exec(message)?.[1]);
      expect(said.flatMap((seconds) => (seconds === undefined ? [] : [Number(seconds)]))).to.deep.equal(waits);
    }
  });

  it('asks for no more messages than the window needs', async () => {
    const { host, read } = room;
    chatter(host.bob, host.general, 30);
    expect((await read(host.general, { limit: 10 })).messages).to.have.length(10);
    expect(host.discord.requests.of('GET', '/channels/:channelId/messages')[0]?.query.get('limit')).to.equal('10');
    const more = await read(host.general, { limit: 25 });
    expect(more.messages.map(({ content }) => content).at(0)).to.equal('message 6');
    expect(more.restCalls).to.equal(1);
    expect(host.discord.requests.of('GET', '/channels/:channelId/messages')[1]?.query.get('limit')).to.equal('15');
  });

  it('knows when nothing older exists', async () => {
    const { host, read } = room;
    chatter(host.bob, host.general, 3);
    expect(await read()).to.include({ whole: true, restCalls: 1 });
    expect(await read()).to.include({ whole: true, restCalls: 0 });
    expect(await read(host.general, { limit: 2 })).to.include({ whole: false, restCalls: 0 });
  });

  it('reaches back to an anchor that is older than the window', async () => {
    const { host, read } = room;
    const said = chatter(host.bob, host.general, 150);
    const anchored = await read(host.general, { limit: 10, from: said[20]?.id ?? '' });
    expect(anchored.messages.at(0)?.content).to.equal('message 21');
    expect(anchored.messages).to.have.length(130);
    expect(anchored.restCalls).to.equal(3);
  });

  it('shows edits, deletions and bulk deletions', async () => {
    const { host, lines } = room;
    const [first, second, third, fourth] = chatter(host.bob, host.general, 4);
    await lines();
    if (!first || !second || !third || !fourth) throw new Error('nothing was said');
    host.bob.edit(first, 'edited');
    host.bob.delete(second);
    await host.settled();
    const channel = host.client.channels.cache.get(host.general.id);
    if (!channel?.isTextBased() || channel.isDMBased()) throw new Error('no channel');
    await channel.bulkDelete([third.id, fourth.id]);
    room.requests();
    expect(await lines()).to.deep.equal(['bob: edited']);
    expect(room.requests()).to.equal(0);
  });

  it('shows an embed that is added to a message later', async () => {
    const { host, read } = room;
    await read();
    const channel = host.client.channels.cache.get(host.general.id);
    if (!channel?.isSendable()) throw new Error('no channel');
    const sent = await channel.send('https://example.com');
    await sent.edit({ embeds: [{ title: 'Example', description: 'A page' }] });
    expect((await read()).messages.at(-1)).to.deep.include({
      content: 'https://example.com',
      extras: ['[embed: Example | A page]'],
    });
  });

  it('follows reactions, of messages from before it came as well, and tells the bot’s own apart', async () => {
    const { host, read } = room;
    const old = host.bob.say(host.general, 'old');
    host.you.react(old, '🙃');
    const reactions = async () => (await read()).messages.map((message) => [...message.reactions]);
    expect(await reactions()).to.deep.equal([['🙃']]);
    const fresh = host.bob.say(host.general, 'fresh');
    host.alice.react(fresh, '🫥');
    host.bob.react(fresh, '🫥');
    host.bob.unreact(fresh, '🫥');
    host.bot.react(fresh, '👍');
    expect(await reactions()).to.deep.equal([['🙃'], ['🫥']]);
    host.you.unreact(old, '🙃');
    host.you.clearReactions(fresh);
    expect(await reactions()).to.deep.equal([[], []]);
    host.alice.react(fresh, '🙃');
    host.alice.react(fresh, '👍');
    host.you.clearReactions(fresh, '🙃');
    expect(await reactions()).to.deep.equal([[], ['👍']]);
    expect(room.pages()).to.equal(1);
  });

  it('does not care how many messages discord.js keeps', async () => {
    const { host, read } = room;
    await read(host.general, { limit: 700 });
    chatter(host.bob, host.general, 700);
    expect((await read(host.general, { limit: 700 })).messages).to.have.length(700);
    expect(room.pages()).to.equal(1);
  });

  it('keeps nothing of channels that were not read', async () => {
    const { host, read } = room;
    chatter(host.bob, host.general, 5);
    await host.settled();
    expect((await read()).restCalls).to.equal(1);
  });

  it('forgets the channel that was read longest ago when it holds too many', async () => {
    await using small = await openHistory({ channels: 2 });
    const { host, read } = small;
    const [one, two] = [host.guild.createChannel({ name: 'one' }), host.guild.createChannel({ name: 'two' })];
    for (const channel of [host.general, one, two]) await read(channel);
    small.requests();
    expect((await read(two)).restCalls).to.equal(0);
    expect((await read(one)).restCalls).to.equal(0);
    expect((await read(host.general)).restCalls).to.equal(1);
  });

  it('lets go of what live messages make older than readers need, and reads it again when one does', async () => {
    const { host, read, history } = room;
    chatter(host.bob, host.general, 50);
    await read(host.general, { limit: 50 });
    chatter(host.bob, host.general, 1_000);
    await host.settled();
    expect(history.held.messages).to.be.within(50, 300);
    room.pages();
    expect((await read(host.general, { limit: 50 })).restCalls).to.equal(0);
    const all = await read(host.general, { limit: 1_000 });
    expect(all.messages.map(({ id }) => id)).to.deep.equal(host.general.messages.slice(-1_000).map(({ id }) => id));
    expect(all.restCalls).to.be.within(7, 10);
    expect((await read(host.general, { limit: 1_000 })).restCalls).to.equal(0);
  });

  it('keeps what an older anchor needs for as long as readers ask for it', async () => {
    const { host, read } = room;
    const [anchor] = chatter(host.bob, host.general, 300);
    const options = { limit: 50, from: anchor?.id ?? '' };
    await read(host.general, options);
    for (let round = 0; round < 5; round += 1) {
      chatter(host.bob, host.general, 90);
      expect((await read(host.general, options)).restCalls).to.equal(0);
    }
  });

  it('is bounded in all channels together, by messages and by bytes: those read longest ago go first', async () => {
    for (const all of [
      { messages: 500, bytes: 1e9 },
      { messages: 1e6, bytes: 250_000 },
    ]) {
      await using small = await openHistory({ all });
      const { host, read, history } = small;
      const channels = Array.from({ length: 8 }, (_, at) => host.guild.createChannel({ name: `many-${at}` }));
      for (const channel of channels) await read(channel, { limit: 100 });
      for (const channel of channels) chatter(host.bob, channel, 120);
      await host.settled();
      expect(history.held.messages).to.be.at.most(all.messages);
      expect(history.held.bytes).to.be.at.most(all.bytes);
      small.pages();
      expect((await read(channels.at(-1), { limit: 100 })).restCalls).to.equal(0);
      expect((await read(channels[0], { limit: 100 })).messages).to.have.length(100);
      expect(small.pages()).to.equal(1);
    }
  });

  it('is bounded in one channel by bytes, whatever its readers want', async () => {
    await using small = await openHistory({ channelBytes: 100_000 });
    const { host, read, history } = small;
    await read(host.general, { limit: 1_000 });
    chatter(host.bob, host.general, 200, 'x'.repeat(1_500));
    await host.settled();
    expect(history.held.bytes).to.be.at.most(100_000);
    expect((await read(host.general, { limit: 200 })).messages).to.have.length(200);
    expect(history.held.bytes).to.be.at.most(100_000);
  });

  it('shares one fetch among those who ask at the same time', async () => {
    const { host, read } = room;
    chatter(host.bob, host.general, 250);
    await host.settled();
    const windows = await Promise.all(Array.from({ length: 5 }, () => read()));
    expect(windows.map(({ messages }) => messages.length)).to.deep.equal([250, 250, 250, 250, 250]);
    expect(room.pages()).to.equal(3);
  });

  it('takes in what happens while it fetches', async () => {
    const { host, read } = room;
    const [first, second] = chatter(host.bob, host.general, 3);
    if (!first || !second) throw new Error('nothing was said');
    await host.settled();
    const release = host.discord.faults.rest.hold({ route: '/channels/:channelId/messages' });
    const reading = read();
    await host.settled();
    host.bob.edit(first, 'edited');
    host.bob.delete(second);
    host.bob.say(host.general, 'said meanwhile');
    await host.settled();
    release();
    expect((await reading).messages.map(({ content }) => content)).to.deep.equal([
      'edited',
      'message 3',
      'said meanwhile',
    ]);
  });

  it('counts a reaction that comes while it fetches just once', async () => {
    const { host, read } = room;
    const said = host.bob.say(host.general, 'hello');
    host.you.react(said, '🙃');
    await host.settled();
    const release = host.discord.faults.rest.hold({ route: '/channels/:channelId/messages' });
    const reading = read();
    await host.settled();
    host.alice.react(said, '🙃');
    await host.settled();
    release();
    await reading;
    host.alice.unreact(said, '🙃');
    expect((await read()).messages[0]?.reactions).to.deep.equal(['🙃']);
    host.you.unreact(said, '🙃');
    expect((await read()).messages[0]?.reactions).to.deep.equal([]);
  });

  it('reads direct messages', async () => {
    const { host, lines } = room;
    const dm = host.alice.openDm(host.bot);
    host.alice.say(dm, 'between us');
    await host.settled();
    expect(await lines(dm)).to.deep.equal(['alice: between us']);
    host.alice.say(dm, 'and more');
    expect(await lines(dm)).to.deep.equal(['alice: between us', 'alice: and more']);
    expect(room.pages()).to.equal(1);
  });
});
