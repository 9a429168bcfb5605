import { getEventListeners } from 'node:events';
import {
  CircuitOpenError,
  createCircuitBreaker,
  createDeadline,
  createKeyedMutex,
  createRateLimiter,
  keepTyping,
  retryDiscord,
  sleep,
  unlessAborted,
  type Verdict,
  withAbortGrace,
  withinLimit,
} from '@cinnabar/sdk';
import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import fc from 'fast-check';

const never = new Promise<never>(() => undefined);
const settled = () => new Promise((resolve) => setImmediate(resolve));

interface Waiting {
  /** Waits for a second, or until the signal aborts. */
  wait(clock: ManualClock, signal: AbortSignal): Promise<unknown>;
  readonly aborted: unknown;
  readonly passed?: unknown;
}

const WAITING: Readonly<Record<string, Waiting>> = {
  sleep: { wait: (clock, signal) => sleep(clock, 1_000, signal), aborted: false, passed: true },
  withinLimit: {
    wait: (clock, signal) => withinLimit(clock, 1_000, never, signal),
    aborted: { inTime: false },
    passed: { inTime: false },
  },
  unlessAborted: {
    wait: (clock, signal) => unlessAborted(sleep(clock, 1_000, signal).then(String), signal),
    aborted: { inTime: false },
    passed: { inTime: true, value: 'true' },
  },
  retryDiscord: {
    wait(clock, signal) {
      let failures = 0;
      const request = async () => {
        failures += 1;
        if (failures === 1) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
        return 'repeated';
      };
      return retryDiscord(clock, request, { signal, pausesMs: [1_000] }).catch((error: Error) => error.message);
    },
    aborted: 'reset',
    passed: 'repeated',
  },
  'a keyed mutex': {
    wait(clock, signal) {
      const mutex = createKeyedMutex();
      void mutex.run('key', () => sleep(clock, 1_000));
      return mutex.run('key', async () => 'ran', signal);
    },
    aborted: undefined,
    passed: 'ran',
  },
  keepTyping: {
    async wait(clock, signal) {
      const log = { debug: () => undefined };
      const stop = keepTyping({ sendTyping: async () => undefined }, { clock, signal, log });
      await sleep(clock, 1_000, signal);
      return stop();
    },
    aborted: undefined,
    passed: undefined,
  },
};

describe('sdk: every helper that waits', () => {
  for (const [name, { wait, aborted, passed }] of Object.entries(WAITING)) {
    it(`${name} ends at once when its signal aborts, and leaves neither a timer nor a listener`, async () => {
      for (const when of ['before', 'while']) {
        const clock = createManualClock();
        const stop = new AbortController();
        if (when === 'before') stop.abort();
        const ended = wait(clock, stop.signal);
        await settled();
        stop.abort();
        expect(await ended, when).to.deep.equal(aborted);
        // The earlier task in the mutex continues.
        if (name !== 'a keyed mutex') expect(clock.pending, when).to.equal(0);
        expect(getEventListeners(stop.signal, 'abort').length, when).to.equal(0);
      }
    });

    if (passed === undefined && name !== 'keepTyping') continue;
    it(`${name} leaves neither a timer nor a listener when its time has passed`, async () => {
      const clock = createManualClock();
      const { signal } = new AbortController();
      const ended = wait(clock, signal);
      await settled();
      clock.advance(1_000);
      expect(await ended).to.deep.equal(passed);
      await settled();
      expect(clock.pending).to.equal(0);
      expect(getEventListeners(signal, 'abort').length).to.equal(0);
    });
  }

  it('createDeadline aborts for time or for its signals, and leaves nothing behind once it is ended', () => {
    const clock = createManualClock();
    const stop = new AbortController();
    const late = createDeadline(clock, 1_000, [stop.signal]);
    clock.advance(1_000);
    expect([late.signal.aborted, late.isUp]).to.deep.equal([true, true]);
    late.end();
    const stopped = createDeadline(clock, 1_000, [stop.signal]);
    stop.abort('why');
    expect([stopped.signal.reason, stopped.isUp]).to.deep.equal(['why', false]);
    stopped.end();
    expect([clock.pending, getEventListeners(stop.signal, 'abort').length]).to.deep.equal([0, 0]);
  });

  it('withAbortGrace waits for the grace period after the abort, and no longer', async () => {
    const clock = createManualClock();
    const stop = new AbortController();
    const late = withAbortGrace(clock, () => 500, never, stop.signal);
    const soon = withAbortGrace(
      clock,
      500,
      sleep(clock, 10_200).then(() => 'tidied'),
      stop.signal,
    );
    clock.advance(10_000);
    stop.abort();
    clock.advance(499);
    expect(await soon).to.deep.equal({ inTime: true, value: 'tidied' });
    clock.advance(1);
    expect(await late).to.deep.equal({ inTime: false });
    expect([clock.pending, getEventListeners(stop.signal, 'abort').length]).to.deep.equal([0, 0]);
  });

  it('withAbortGrace gives work that never stops sending up after three more halves of the period', async () => {
    const clock = createManualClock();
    const stop = new AbortController();
    const alwaysSending = { arrival: () => Promise.resolve() };
    let isOver = false;
    const work = withAbortGrace(clock, 500, never, stop.signal, alwaysSending).then(({ inTime }) => {
      isOver = true;
      return inTime;
    });
    stop.abort();
    for (const periodMs of [500, 250, 250]) {
      clock.advance(periodMs);
      await settled();
      expect(isOver).to.equal(false);
    }
    clock.advance(250);
    expect(await work).to.equal(false);
  });

  it('keepTyping shows the indicator every 8 s until it is stopped, and survives a channel that refuses it', async () => {
    const clock = createManualClock();
    let shown = 0;
    const sendTyping = async () => {
      shown += 1;
      if (shown === 2) throw new Error('Missing Access');
    };
    const stop = keepTyping(async () => ({ sendTyping }), { clock, log: { debug: () => undefined } });
    for (let refreshes = 0; refreshes < 3; refreshes += 1) {
      await settled();
      clock.advance(8_000);
    }
    await settled();
    await stop();
    clock.advance(60_000);
    expect(shown).to.equal(4);
  });
});

describe('sdk: a keyed mutex', () => {
  it('keeps the order of each key, whatever fails or is given up while it waits', async () => {
    const task = fc.record({ key: fc.constantFrom('a', 'b'), fails: fc.boolean(), givesUp: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(task, { maxLength: 12 }), async (tasks) => {
        const mutex = createKeyedMutex();
        const running = new Map<string, number>();
        const begun: number[] = [];
        const ended = tasks.map(({ key, fails, givesUp }, index) => {
          const stop = new AbortController();
          const work = async () => {
            expect(running.has(key)).to.equal(false);
            running.set(key, index);
            begun.push(index);
            await settled();
            running.delete(key);
            if (fails) throw new Error('failed');
            return index;
          };
          const result = mutex.run(key, work, stop.signal).catch(() => 'failed');
          if (givesUp) stop.abort();
          return result;
        });
        const results = await Promise.all(ended);
        await mutex.idle();
        for (const key of ['a', 'b']) {
          const order = begun.filter((index) => tasks[index]?.key === key);
          expect(order).to.deep.equal([...order].sort((one, other) => one - other));
        }
        for (const [index, { fails, givesUp }] of tasks.entries()) {
          const ran = begun.includes(index);
          if (!givesUp) expect(ran).to.equal(true);
          // A task that has begun is not dropped any more.
          expect(results[index]).to.equal(ran ? (fails ? 'failed' : index) : undefined);
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe('sdk: a circuit breaker', () => {
  const run = (breaker: ReturnType<typeof createCircuitBreaker>, verdict: Verdict) =>
    breaker.run(
      async () => verdict,
      (result) => result,
    );

  it('opens after five failures in a row, admits one probe after the pause, and goes by its outcome', async () => {
    const clock = createManualClock(0);
    const changes: string[] = [];
    const breaker = createCircuitBreaker(clock, {
      onOpen: () => changes.push('open'),
      onClose: () => changes.push('closed'),
    });
    for (const verdict of ['failure', 'failure', 'failure', 'failure', 'success', 'inconclusive'] as const)
      await run(breaker, verdict);
    for (let failures = 0; failures < 5; failures += 1) {
      expect(breaker.state).to.equal('closed');
      await run(breaker, 'failure');
    }
    expect([breaker.state, breaker.admitsAt]).to.deep.equal(['open', 30_000]);
    expect(await run(breaker, 'success').catch((error: unknown) => error)).to.be.instanceOf(CircuitOpenError);
    clock.advance(30_000);
    let answer: (verdict: Verdict) => void = () => undefined;
    const probe = breaker.run(
      () => new Promise<Verdict>((resolve) => (answer = resolve)),
      (result) => result,
    );
    expect([breaker.state, breaker.admitsAt]).to.deep.equal(['half-open', Number.POSITIVE_INFINITY]);
    answer('failure');
    await probe;
    expect([breaker.state, breaker.admitsAt]).to.deep.equal(['open', 60_000]);
    clock.advance(30_000);
    await run(breaker, 'inconclusive');
    expect([breaker.state, breaker.admitsAt]).to.deep.equal(['open', 60_000]);
    await run(breaker, 'success');
    expect([breaker.state, breaker.admitsAt]).to.deep.equal(['closed', 0]);
    expect(changes).to.deep.equal(['open', 'open', 'closed']);
  });

  it('throws what an attempt throws, and learns nothing from it', async () => {
    const breaker = createCircuitBreaker(createManualClock(), { failures: 1 });
    const broken = breaker.run(
      () => Promise.reject(new Error('a bug')),
      () => 'failure',
    );
    expect(await broken.catch((error: Error) => error.message)).to.equal('a bug');
    expect(breaker.state).to.equal('closed');
  });
});

describe('sdk: a rate limiter', () => {
  it('admits so many uses of a key in any window, and says how long the next has to wait', () => {
    const clock = createManualClock();
    const limiter = createRateLimiter(clock, 60_000);
    expect(limiter.take('alice', 2)).to.equal(undefined);
    clock.advance(10_000);
    expect(limiter.take('alice', 2)).to.equal(undefined);
    expect(limiter.take('alice', 2)).to.deep.equal({ waitMs: 50_000, isFirst: true });
    expect(limiter.take('alice', 2)).to.deep.equal({ waitMs: 50_000, isFirst: false });
    expect(limiter.take('bob', 2)).to.equal(undefined);
    expect(limiter.take('alice', 0)).to.equal(undefined);
    clock.advance(50_000);
    expect(limiter.take('alice', 2)).to.equal(undefined);
    expect(limiter.take('alice', 2)).to.deep.equal({ waitMs: 10_000, isFirst: true });
  });
});
