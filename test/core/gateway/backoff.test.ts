import { expect } from 'chai';
import fc from 'fast-check';
import { pausesWith } from './harness.js';

const FAILED = { readyForMs: undefined, resumed: false, renewing: false };
const attempt = fc.record({
  readyForMs: fc.option(fc.integer({ min: 0, max: 120_000 }), { nil: undefined }),
  resumed: fc.boolean(),
  renewing: fc.constant(false),
});

describe('the schedule of attempts to connect', () => {
  it('is at once, then 1 s, 2 s, 4 s up to a minute; chance shortens each by up to a half', () => {
    const [shortest, longest] = [pausesWith(0), pausesWith(1)];
    const steps = Array.from({ length: 9 }, () => [shortest.next(FAILED) / 1_000, longest.next(FAILED) / 1_000]);
    expect(steps).to.deep.equal([
      [0, 0],
      [0.5, 1],
      [1, 2],
      [2, 4],
      [4, 8],
      [8, 16],
      [16, 32],
      [30, 60],
      [30, 60],
    ]);
  });

  it('begins anew after a connection that was ready for 30 s', () => {
    const backoff = pausesWith(1);
    for (let failure = 0; failure < 9; failure++) backoff.next(FAILED);
    expect(backoff.next({ readyForMs: 30_000, resumed: true, renewing: false })).to.equal(0);
  });

  it('counts no end that asks for a new session', () => {
    const backoff = pausesWith(1);
    backoff.next(FAILED);
    expect(backoff.next({ ...FAILED, renewing: true })).to.equal(0);
    expect(backoff.next(FAILED)).to.equal(1_000);
  });

  it('is never over a minute, and never over 2 s while sessions are resumed', () => {
    fc.assert(
      fc.property(
        fc.array(attempt, { maxLength: 40 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempts, chance) => {
          const backoff = pausesWith(chance);
          for (const one of attempts) {
            const pauseMs = backoff.next(one);
            expect(pauseMs).to.be.within(0, 60_000);
            if (one.resumed && one.readyForMs !== undefined) expect(pauseMs).to.be.at.most(2_000);
          }
        },
      ),
    );
  });
});
