import { dropIdleDirectMessages } from '@cinnabar/core/internal/gateway/caches';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';

const DAY_MS = 24 * 3_600_000;

describe('the message cache of discord.js', () => {
  it('is between 64 and 128 of the newest messages of a channel, the oldest first', async () => {
    await using host = await createTestHost({ plugins: ['ai'] });
    const said = Array.from({ length: 300 }, (_, number) => host.alice.say(host.general, `message ${number}`).id);
    await host.settled();
    const { messages } = textChannel(host);
    expect(messages.cache.size).to.be.within(64, 128);
    expect([...messages.cache.keys()]).to.deep.equal(said.slice(-messages.cache.size));
    expect(messages.cache.last()?.content).to.equal('message 299');
    expect(messages.cache.filter(({ id }) => id === said.at(-64)).size).to.equal(1);
  });

  it('no longer has a message that was deleted, in whichever half it was, and has what an edit made of one', async () => {
    await using host = await createTestHost({ plugins: ['ai'] });
    const said = Array.from({ length: 100 }, (_, number) => host.alice.say(host.general, `message ${number}`));
    const [old, young] = [said[10], said[90]];
    if (old === undefined || young === undefined) throw new Error('they were said');
    host.alice.edit(old, 'edited');
    host.alice.delete(young);
    await host.settled();
    const { cache } = textChannel(host).messages;
    expect(cache.get(old.id)?.content).to.equal('edited');
    expect([cache.has(young.id), cache.size]).to.deep.equal([false, 99]);
    host.alice.delete(old);
    await host.settled();
    expect([cache.hasAny(old.id, young.id), cache.hasAll(...[...cache.keys()]), cache.size]).to.deep.equal([
      false,
      true,
      98,
    ]);
    expect(cache.sort((one, other) => Number(BigInt(other.id) - BigInt(one.id))).first()?.content).to.equal(
      'message 99',
    );
  });

  it('is no direct message channel that has been idle for a day, when there are many; it comes back with the next message', async () => {
    await using host = await createTestHost({ plugins: ['ai'] });
    const dm = host.alice.openDm(host.application);
    host.alice.say(dm, 'hello');
    await host.settled();
    const now = host.clock.now();
    dropIdleDirectMessages(host.client, now + 2 * DAY_MS);
    dropIdleDirectMessages(host.client, now, 0);
    expect(host.client.channels.cache.has(dm.id)).to.equal(true);
    dropIdleDirectMessages(host.client, now + 2 * DAY_MS, 0);
    expect(host.client.channels.cache.has(dm.id)).to.equal(false);
    host.alice.say(dm, 'hello again');
    await host.settled();
    expect(host.client.channels.cache.has(dm.id)).to.equal(true);
  });
});

function textChannel({ client, general }: TestHost) {
  const channel = client.channels.cache.get(general.id);
  if (channel?.isTextBased() !== true) throw new Error('it is a channel for text');
  return channel;
}
