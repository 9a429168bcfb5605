import { createShiftableClock } from '@cinnabar/core/internal/clock/shiftable-clock';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';

describe('a clock that can be moved forward', () => {
  it('runs with its base, and ahead of it after a jump', () => {
    const base = createManualClock(1_000);
    const clock = createShiftableClock(base);
    base.advance(10);
    expect(clock.now()).to.equal(1_010);
    clock.advance(60_000);
    expect(clock.now()).to.equal(61_010);
    base.advance(5);
    expect(clock.now()).to.equal(61_015);
  });

  it('runs what falls due in a jump, in order and at its time, and the rest when the base comes there', () => {
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
    clock.advance(200);
    expect(ran).to.deep.equal([
      ['first', 100],
      ['nested', 150],
    ]);
    base.advance(100);
    expect(ran.at(-1)).to.deep.equal(['late', 300]);
  });
});
