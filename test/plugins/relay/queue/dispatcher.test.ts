import { setImmediate } from 'node:timers/promises';
import { createDispatcher, type ServeResult, type Stall } from '@cinnabar/plugin-relay/dist/queue/dispatcher.js';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import fc from 'fast-check';
import { recordingLogger } from '../../../support/logs.js';

const LIMIT_MS = 120_000;

/** Starts a dispatcher with a number of events per channel, and an outcome of each attempt. */
function start(outcome: (channelId: string) => 'ends' | 'hangs' | 'throws' | 'waits for a wake-up' = () => 'ends') {
  const clock = createManualClock();
  const events = new Map<string, number>();
  const hanging = new Map<string, () => void>();
  const stalls: Stall[] = [];
  let [serving, most] = [0, 0];
  const serve = async (channelId: string): Promise<ServeResult> => {
    serving += 1;
    most = Math.max(most, serving);
    try {
      if ((events.get(channelId) ?? 0) === 0) return { is: 'idle' };
      const what = outcome(channelId);
      if (what === 'throws') throw new Error('settings cannot be read');
      if (what === 'waits for a wake-up') return { is: 'wait', until: Number.POSITIVE_INFINITY };
      if (what === 'hangs') await new Promise<void>((resolve) => hanging.set(channelId, resolve));
      else events.set(channelId, (events.get(channelId) ?? 0) - 1);
      return { is: 'attempted' };
    } finally {
      serving -= 1;
    }
  };
  const dispatcher = createDispatcher({
    clock,
    log: recordingLogger(),
    bound: () => ({ total: 3, perGuild: 2 }),
    serve,
    guildOf: (channelId) => ((events.get(channelId) ?? 0) > 0 ? channelId.slice(0, 1) : undefined),
    channels: () => [...events].filter(([, count]) => count > 0).map(([channelId]) => channelId),
    limitMs: () => LIMIT_MS,
    interrupt: (channelId) => hanging.get(channelId)?.(),
    onStall: (stall) => stalls.push(stall),
  });
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 10_000) {
      clock.advance(Math.min(left, 10_000));
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    }
  };
  return {
    clock,
    dispatcher,
    stalls,
    pass,
    add: (channelId: string) => events.set(channelId, (events.get(channelId) ?? 0) + 1),
    left: () => [...events.values()].reduce((sum, count) => sum + count, 0),
    most: () => most,
  };
}

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
          const bench = start(() => left.shift() ?? 'ends');
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
    const bench = start();
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
    const bench = start((channelId) => (channelId === 'b1' ? 'waits for a wake-up' : 'ends'));
    bench.add('b1');
    bench.dispatcher.wake('b1');
    bench.add('a1');
    await bench.pass(60_000);
    expect(bench.left()).to.equal(1);
    expect(bench.stalls).to.deep.equal([{ channelId: 'a1', problem: 'no worker' }]);
  });

  it('ends an attempt that does not end by itself, and says so', async () => {
    let attempts = 0;
    const bench = start(() => {
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
