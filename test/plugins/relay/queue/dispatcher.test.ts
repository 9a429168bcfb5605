import { expect } from 'chai';
import fc from 'fast-check';
import { startDispatcher } from './harness.js';

const LIMIT_MS = 120_000;
const CHANNELS = ['a1', 'a2', 'a3', 'b1', 'b2'];

describe('the dispatcher of the queue', () => {
  it('serves every event in the end, whatever attempts come to and whatever wake-up is lost, within its bounds', async () => {
    const step = fc.record({
      channel: fc.constantFrom(...CHANNELS),
      isWoken: fc.boolean(),
      ms: fc.constantFrom(0, 0, 1_000, 30_000),
    });
    const outcome = fc.constantFrom('ends', 'ends', 'hangs', 'throws', 'waits for a wake-up');
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 20 }),
        fc.array(outcome, { maxLength: 12 }),
        async (steps, fates) => {
          const left = [...fates];
          const bench = startDispatcher(LIMIT_MS, () => left.shift() ?? 'ends');
          // The watchdog runs while there is work: one channel always wakes.
          bench.add('b2');
          bench.dispatcher.wake('b2');
          for (const { channel, isWoken, ms } of steps) {
            bench.add(channel);
            if (isWoken) bench.dispatcher.wake(channel);
            await bench.pass(ms);
          }
          bench.dispatcher.wake('b2');
          bench.add('a1');
          bench.dispatcher.wake('a1');
          await bench.pass((fates.length + 3) * (LIMIT_MS + 120_000));
          expect(bench.left()).to.equal(0);
          expect(bench.most()).to.be.at.most(3);
          await bench.dispatcher.stop();
          expect(bench.clock.pending).to.equal(0);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('reports nothing when every change wakes its channel', async () => {
    const bench = startDispatcher(LIMIT_MS);
    for (const channel of [...CHANNELS, ...CHANNELS]) {
      bench.add(channel);
      bench.dispatcher.wake(channel);
    }
    await bench.pass(180_000);
    expect(bench.left()).to.equal(0);
    expect(bench.stalls).to.deep.equal([]);
    expect(bench.clock.pending, 'nothing runs while there is nothing to do').to.equal(0);
  });

  it('finds a channel that nothing serves, serves it and says so', async () => {
    const bench = startDispatcher(LIMIT_MS, (channelId) => (channelId === 'b1' ? 'waits for a wake-up' : 'ends'));
    bench.add('b1');
    bench.dispatcher.wake('b1');
    bench.add('a1');
    await bench.pass(60_000);
    expect(bench.left()).to.equal(1);
    expect(bench.stalls).to.deep.equal([{ channelId: 'a1', problem: 'no worker' }]);
  });

  it('ends an attempt that does not end by itself, and says so', async () => {
    let attempts = 0;
    const bench = startDispatcher(LIMIT_MS, () => {
      attempts += 1;
      return attempts === 1 ? 'hangs' : 'ends';
    });
    bench.add('a1');
    bench.dispatcher.wake('a1');
    await bench.pass(LIMIT_MS + 60_000);
    expect(bench.stalls).to.deep.equal([{ channelId: 'a1', problem: 'attempt does not end' }]);
    expect(bench.left()).to.equal(0);
  });
});
