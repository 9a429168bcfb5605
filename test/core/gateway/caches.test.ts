import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';
import sinon from 'sinon';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('the message cache of discord.js', () => {
  afterEach(() => sinon.restore());

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
    const intervals = sinon.spy(globalThis, 'setInterval');
    await using host = await createTestHost({ plugins: ['ai'] });
    intervals.restore();
    const hourly = intervals.getCalls().flatMap(({ args: [task, ms] }) => (ms === HOUR_MS ? [task] : []));
    /** What the bot does each hour, at that time of the computer's clock. */
    const sweepAt = (now: number) => {
      const time = sinon.stub(Date, 'now').returns(now);
      for (const task of hourly) task();
      time.restore();
    };
    const dm = host.alice.openDm(host.application);
    host.alice.say(dm, 'hello');
    await host.settled();
    const { cache } = host.client.channels;
    const now = host.clock.now();
    sweepAt(now + 2 * DAY_MS);
    const channel = cache.get(dm.id);
    if (channel === undefined) throw new Error('it is not kept among few');
    for (let other = 0; other < 1_000; other += 1) cache.set(`${other}`, channel);
    sweepAt(now);
    expect(cache.has(dm.id)).to.equal(true);
    sweepAt(now + 2 * DAY_MS);
    expect(cache.has(dm.id)).to.equal(false);
    host.alice.say(dm, 'hello again');
    await host.settled();
    expect(cache.has(dm.id)).to.equal(true);
  });
});

function textChannel({ client, general }: TestHost) {
  const channel = client.channels.cache.get(general.id);
  if (channel?.isTextBased() !== true) throw new Error('it is a channel for text');
  return channel;
}
