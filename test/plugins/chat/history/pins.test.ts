import { expect } from 'chai';
import { type HistoryHarness, openHistory } from './harness.js';

describe('chat history: pinned .config messages', () => {
  let room: HistoryHarness;
  beforeEach(async () => {
    room = await openHistory();
  });
  afterEach(() => room[Symbol.asyncDispose]());

  const pin = (text: string, who = room.host.you) => {
    const message = who.say(room.host.general, text);
    room.host.clock.advance(1_000);
    room.host.you.pin(message);
    return message;
  };

  it('are given oldest pin first, and fetched once', async () => {
    const { configs } = room;
    pin('.config\nmode: chat');
    pin('just pinned');
    pin('.config\n---\n```yaml\nmaxTokens: 10\ntopP: 1\n```');
    expect(await configs()).to.deep.equal(['mode: chat', 'maxTokens: 10\ntopP: 1']);
    room.requests();
    expect(await configs()).to.have.length(2);
    expect(room.requests()).to.equal(0);
  });

  it('are asked for again only after something was pinned or unpinned', async () => {
    const { host, configs } = room;
    const first = pin('.config\nmode: chat');
    await configs();
    const second = pin('.config\nmode: prefill');
    await host.settled();
    room.requests();
    expect(await configs()).to.deep.equal(['mode: chat', 'mode: prefill']);
    expect(room.requests()).to.equal(1);
    host.you.unpin(first);
    expect(await configs()).to.deep.equal(['mode: prefill']);
    host.you.unpin(second);
    expect(await configs()).to.deep.equal([]);
    expect(await configs(host.general)).to.deep.equal([]);
    expect(room.requests()).to.equal(2);
  });

  it('follow edits and deletions without asking', async () => {
    const { host, configs } = room;
    const [first, second] = [pin('.config\nmode: chat'), pin('.config\ntopP: 1')];
    await configs();
    room.requests();
    host.you.edit(first, '.config\nmode: prefill');
    expect(await configs()).to.deep.equal(['mode: prefill', 'topP: 1']);
    host.you.edit(first, 'no more');
    expect(await configs()).to.deep.equal(['topP: 1']);
    host.you.delete(second);
    expect(await configs()).to.deep.equal([]);
    expect(room.requests()).to.equal(0);
  });

  it('see a pinned message become one', async () => {
    const { host, configs } = room;
    const message = pin('soon');
    await configs();
    host.you.edit(message, '.config\nmode: chat');
    expect(await configs()).to.deep.equal(['mode: chat']);
  });

  it('do not count when a member turned a harmless pinned message into one', async () => {
    const { host, configs } = room;
    const message = pin('What a nice day', host.bob);
    await host.advance(1_000);
    host.bob.edit(message, '.config\nmode: prefill');
    expect(await configs()).to.deep.equal([]);
    host.you.unpin(message);
    await host.advance(1_000);
    host.you.pin(message);
    expect(await configs()).to.deep.equal(['mode: prefill']);
  });

  it('may name the bots that they are for', async () => {
    const { host, configs } = room;
    pin('.config Cinnabar\na: 1');
    pin('.config Claude, Night Bot\na: 2');
    pin(`.config ${host.bot}\na: 3`);
    pin('.config\na: 4');
    pin('.configuration\na: 5');
    expect(await configs()).to.deep.equal(['a: 1', 'a: 3', 'a: 4']);
    expect(await configs(host.general, ['night bot'])).to.deep.equal(['a: 2', 'a: 3', 'a: 4']);
  });

  it('hold in threads, under the thread’s own', async () => {
    const { host, configs } = room;
    pin('.config\na: 1');
    const thread = host.alice.startThread(host.general, 'aside');
    const own = host.you.say(thread, '.config\na: 2');
    host.you.pin(own);
    expect(await configs(thread)).to.deep.equal(['a: 1', 'a: 2']);
    expect(await configs()).to.deep.equal(['a: 1']);
  });

  it('do not exist in direct messages, nor where the bot may not read', async () => {
    const { host, configs } = room;
    const dm = host.alice.openDm(host.bot);
    const message = host.alice.say(dm, '.config\na: 1');
    host.alice.pin(message);
    expect(await configs(dm)).to.deep.equal([]);
    pin('.config\na: 2');
    host.guild.overwrite(host.general, { for: host.bot, deny: ['ReadMessageHistory'] });
    expect(await configs()).to.deep.equal([]);
  });

  it('are asked for again when something was pinned while the plugin was disabled', async () => {
    const { host, configs } = room;
    await configs();
    await host.plugins.disable(host.guild.id, 'historian');
    pin('.config\na: 1');
    await host.settled();
    await host.plugins.enable(host.guild.id, 'historian');
    expect(await configs()).to.deep.equal(['a: 1']);
  });

  it('are asked for again after a lost session', async () => {
    const { host, configs } = room;
    pin('.config\na: 1');
    await configs();
    await room.loseSession(() => void pin('.config\na: 2'));
    expect(await configs()).to.deep.equal(['a: 1', 'a: 2']);
    room.requests();
    await configs(host.general);
    expect(room.requests()).to.equal(0);
  });
});
