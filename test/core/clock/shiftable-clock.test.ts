import { createShiftableClock } from '@cinnabar/core/internal/clock/clock';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';

const settled = async () => undefined;

describe('a clock that can be moved forward', () => {
  it('runs with its base, and ahead of it after a jump', async () => {
    const base = createManualClock(1_000);
    const clock = createShiftableClock(base);
    base.advance(10);
    expect(clock.now()).to.equal(1_010);
    await clock.advance(60_000, settled);
    expect(clock.now()).to.equal(61_010);
    base.advance(5);
    expect(clock.now()).to.equal(61_015);
  });

  it('runs what falls due in a jump, in order and at its time, and the rest when the base comes there', async () => {
    const base = createManualClock(0);
    const clock = createShiftableClock(base);
    const ran: [string, number][] = [];
    clock.after(300, () => ran.push(['late', clock.now()]));
    clock.after(100, () => {
      ran.push(['first', clock.now()]);
      clock.after(50, () => ran.push(['nested', clock.now()]));
    });
    const cancel = clock.after(120, () => ran.push(['cancelled', clock.now()]));
    cancel();
    await clock.advance(200, settled);
    expect(ran).to.deep.equal([
      ['first', 100],
      ['nested', 150],
    ]);
    base.advance(100);
    expect(ran.at(-1)).to.deep.equal(['late', 300]);
  });

  it('delivers a response before the deadline of its request', async () => {
    const clock = createShiftableClock(createManualClock(0));
    const seen: string[] = [];
    let answer = Promise.resolve();
    clock.after(10_000, () => {
      // A request whose response is on its way, with a deadline.
      answer = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        seen.push('answer');
        cancel();
      });
      const cancel = clock.after(5_000, () => seen.push('deadline'));
    });
    await clock.advance(60_000, () => answer);
    expect(seen).to.deep.equal(['answer']);
  });

  it('moves by a year of timers in few stops', async () => {
    const clock = createShiftableClock(createManualClock(0));
    let runs = 0;
    let stops = 0;
    const every = () =>
      void clock.after(15_000, () => {
        runs += 1;
        every();
      });
    every();
    await clock.advance(365 * 86_400_000, async () => {
      stops += 1;
    });
    expect(stops).to.be.within(400, 501);
    expect(runs).to.equal(stops);
    expect(clock.now()).to.equal(365 * 86_400_000);
  });
});
