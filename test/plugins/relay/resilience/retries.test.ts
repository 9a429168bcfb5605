import { expect } from 'chai';
import { DONE, event, FAILED, openQueueHarness, REFUSED } from '../queue/harness.js';

/** An agent that fails this number of times, then answers. */
const failing = (times: number) => {
  let left = times;
  return () => (left-- > 0 ? FAILED : DONE);
};

describe('an agent that fails', () => {
  it('is told three times more, after 1, 2 and 4 seconds, under the same key', async () => {
    await using town = await openQueueHarness({ answer: failing(3) });
    await town.offer(event('m1'));
    await town.drain();
    const waits = town.told.slice(1).map(({ from }, n) => from - (town.told[n]?.to ?? 0));
    expect(waits).to.deep.equal([1_000, 2_000, 4_000]);
    expect(new Set(town.told.map(({ key }) => key)).size).to.equal(1);
    expect(town.failures).to.deep.equal([]);
  });

  it('is given up after that, with one sentence', async () => {
    await using town = await openQueueHarness({ answer: failing(4) });
    await town.offer(event('m1'), event('m2'));
    await town.drain();
    expect(town.told.map(({ ids: [id] }) => id)).to.deep.equal(['m1', 'm1', 'm1', 'm1', 'm2']);
    expect(town.failures.map(({ sentence, events }) => `${events[0].id}: ${sentence}`)).to.deep.equal([
      'm1: It failed.',
    ]);
  });

  it('waits up to half less by chance, so that not all come back together', async () => {
    const random = { next: () => 0.999, id: () => 'key' };
    await using town = await openQueueHarness({ answer: failing(1), queue: { random } });
    await town.offer(event('m1'));
    await town.drain();
    expect((town.told[1]?.from ?? 0) - (town.told[0]?.to ?? 0)).to.be.within(500, 510);
  });

  it('is given the time that it asks for', async () => {
    let first = true;
    await using town = await openQueueHarness({
      answer() {
        const failure = first ? { ...FAILED, retryAfterMs: 20_000 } : DONE;
        first = false;
        return failure;
      },
    });
    await town.offer(event('m1'));
    await town.drain();
    expect((town.told[1]?.from ?? 0) - (town.told[0]?.to ?? 0)).to.equal(20_000);
  });

  it('is not told again when it has refused', async () => {
    await using town = await openQueueHarness({ answer: () => REFUSED });
    await town.offer(event('m1'));
    await town.drain();
    expect(town.told).to.have.lengthOf(1);
    expect(town.failures.map(({ sentence }) => sentence)).to.deep.equal(['It refused.']);
  });

  it('keeps the channel in order, and no other channel waiting', async () => {
    await using town = await openQueueHarness({ answer: ([{ id }]) => (id === 'm1' ? FAILED : DONE) });
    await town.offer(event('m1'), event('m2'), event('m3', 'town/other'));
    await town.drain();
    expect(town.told.map(({ ids: [id] }) => id)).to.deep.equal(['m1', 'm3', 'm1', 'm1', 'm1', 'm2']);
  });

  it('frees its slot while it waits for the next attempt', async () => {
    await using town = await openQueueHarness({
      answer: ([{ id }]) => (id === 'm1' ? FAILED : DONE),
      queue: { bound: () => ({ total: 1, perGuild: 1 }) },
    });
    await town.offer(event('m1', 'town/a'), event('m2', 'town/b'));
    await town.pass(500);
    expect(town.told.map(({ ids: [id] }) => id)).to.deep.equal(['m1', 'm2']);
  });

  it('may also throw', async () => {
    await using town = await openQueueHarness({
      answer() {
        throw new Error('a defect');
      },
    });
    await town.offer(event('m1'));
    await town.drain();
    expect(town.told).to.have.lengthOf(4);
    expect(town.failures[0]?.error).to.match(/a defect/);
  });
});
