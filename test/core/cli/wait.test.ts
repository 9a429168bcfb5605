import { expect } from 'chai';
import { waitAtConsole } from './console-harness.js';

const YEAR_MS = 365 * 86_400_000;

describe('the time at the console', () => {
  it('runs with the machine, and ahead of it after `wait`', async () => {
    await using seat = await waitAtConsole(1_000);
    const { machine, clock, lines, wait } = seat;
    machine.advance(10);
    expect(clock.now()).to.equal(1_010);
    await wait('1m');
    expect(clock.now()).to.equal(61_010);
    expect(lines).to.deep.equal(['it is 1970-01-01 00:01:01 UTC now']);
    machine.advance(5);
    expect(clock.now()).to.equal(61_015);
  });

  it('runs what falls due during `wait`, in order and at its time, and the rest when the machine comes there', async () => {
    await using seat = await waitAtConsole();
    const { machine, clock, wait } = seat;
    const ran: [string, number][] = [];
    clock.after(300, () => ran.push(['late', clock.now()]));
    clock.after(100, () => {
      ran.push(['first', clock.now()]);
      clock.after(50, () => ran.push(['nested', clock.now()]));
    });
    const cancel = clock.after(120, () => ran.push(['cancelled', clock.now()]));
    cancel();
    await wait('200ms');
    expect(ran).to.deep.equal([
      ['first', 100],
      ['nested', 150],
    ]);
    machine.advance(100);
    expect(ran.at(-1)).to.deep.equal(['late', 300]);
  });

  it('delivers a response before the deadline of its request', async () => {
    const seen: string[] = [];
    let answer = Promise.resolve();
    await using seat = await waitAtConsole(0, () => answer);
    const { clock, wait } = seat;
    clock.after(10_000, () => {
      // A request whose response is on its way, with a deadline.
      answer = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        seen.push('answer');
        cancel();
      });
      const cancel = clock.after(5_000, () => seen.push('deadline'));
    });
    await wait('60s');
    expect(seen).to.deep.equal(['answer']);
  });

  it('moves by a year of timers in few stops', async () => {
    let runs = 0;
    let stops = 0;
    await using seat = await waitAtConsole(0, async () => {
      stops += 1;
    });
    const { clock, wait } = seat;
    const every = () =>
      void clock.after(15_000, () => {
        runs += 1;
        every();
      });
    every();
    await wait('365d');
    // The last one is the end of the line.
    stops -= 1;
    expect(stops).to.be.within(400, 501);
    expect(runs).to.equal(stops);
    expect(clock.now()).to.equal(YEAR_MS);
  });
});
