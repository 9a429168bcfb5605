import { expect } from 'chai';
import { chatter, type HistoryHarness, openHistory } from './harness.js';

describe('chat history: when events were lost', () => {
  let room: HistoryHarness;
  beforeEach(async () => {
    room = await openHistory();
  });
  afterEach(() => room[Symbol.asyncDispose]());

  const loseSession = (meanwhile: () => void) => room.loseSession(meanwhile);

  it('misses nothing over a connection that is resumed, and asks for nothing', async () => {
    const { host, lines } = room;
    host.bob.say(host.general, 'before');
    await lines();
    const resumed = new Promise<void>((resolve) => host.client.once('shardResume', () => resolve()));
    host.discord.faults.gateway.dropSockets();
    host.bob.say(host.general, 'during');
    await resumed;
    room.requests();
    expect(await lines()).to.deep.equal(['bob: before', 'bob: during']);
    expect(room.pages()).to.equal(1);
  });

  it('fetches only the page with what was missed, when the rest is as it was', async () => {
    const { host, read } = room;
    chatter(host.bob, host.general, 350);
    await read();
    room.pages();
    await loseSession(() => chatter(host.bob, host.general, 20, 'missed'));
    const { messages } = await read();
    expect(room.pages()).to.equal(1);
    expect(messages.map(({ content }) => content)).to.deep.equal(host.general.messages.map(({ content }) => content));
    expect((await read()).restCalls).to.equal(0);
  });

  it('goes on fetching while it finds that messages were changed', async () => {
    const { host, read } = room;
    const said = chatter(host.bob, host.general, 350);
    await read();
    room.pages();
    await loseSession(() => {
      const [recent, older] = [said[300], said[200]];
      if (!recent || !older) throw new Error('nothing was said');
      host.bob.delete(recent);
      host.bob.edit(older, 'edited');
    });
    const { messages } = await read();
    expect(messages.map(({ content }) => content)).to.deep.equal(host.general.messages.map(({ content }) => content));
    expect(room.pages()).to.equal(3);
  });

  it('learns of edits, deletions and reactions that it was not told of', async () => {
    const { host, read } = room;
    const [first, second, third] = chatter(host.bob, host.general, 3);
    if (!first || !second || !third) throw new Error('nothing was said');
    host.alice.react(first, '🙃');
    await read();
    await loseSession(() => {
      host.alice.unreact(first, '🙃');
      host.alice.react(third, '🫥');
      host.bob.edit(third, 'edited');
      host.bob.delete(second);
    });
    expect((await read()).messages.map(({ content, reactions }) => [content, ...reactions])).to.deep.equal([
      ['message 1'],
      ['edited', '🫥'],
    ]);
    expect((await read()).restCalls).to.equal(0);
  });

  it('believes nothing of what it knew after a long absence', async () => {
    const { host, read } = room;
    chatter(host.bob, host.general, 250);
    await read();
    room.pages();
    await loseSession(() => void host.clock.advance(11 * 60_000));
    await read();
    expect(room.pages()).to.equal(3);
  });

  it('notices that a channel went on while the bot could not see it', async () => {
    const { host, lines } = room;
    host.bob.say(host.general, 'seen');
    await lines();
    host.guild.overwrite(host.general, { for: host.bot, deny: ['ViewChannel'] });
    host.bob.say(host.general, 'unseen');
    await host.settled();
    host.guild.overwrite(host.general, { for: host.bot, allow: ['ViewChannel'] });
    host.bob.say(host.general, 'seen again');
    expect(await lines()).to.deep.equal(['bob: seen', 'bob: unseen', 'bob: seen again']);
  });

  it('notices what was said while its plugin was disabled in the guild', async () => {
    const { host, lines } = room;
    host.bob.say(host.general, 'heard');
    await lines();
    await host.plugins.disable(host.guild.id, 'historian');
    host.bob.say(host.general, 'not heard');
    await host.settled();
    await host.plugins.enable(host.guild.id, 'historian');
    expect(await lines()).to.deep.equal(['bob: heard', 'bob: not heard']);
  });

  it('waits longer each time before it asks a failing Discord again', async () => {
    const { host, read } = room;
    host.bob.say(host.general, 'hello');
    await host.settled();
    // discord.js itself tries four times.
    host.discord.faults.rest.fail(503, { method: 'GET', times: 8 });
    const reading = read();
    await host.settled();
    await host.advance(1_000);
    await host.advance(2_000);
    expect(await reading).to.include({ restCalls: 3 });
  });
});
