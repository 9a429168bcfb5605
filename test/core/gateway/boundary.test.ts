import { createBoundary, createInFlight, watchBlockage } from '@cinnabar/core/internal/gateway/boundary';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { recordingLogger } from '../../support/logs.js';
import { ownerOf } from '../../support/owners.js';

function setUp() {
  const clock = createManualClock();
  const log = recordingLogger();
  const inFlight = createInFlight(clock);
  const time = { now: 0 };
  const blockage = watchBlockage(log, inFlight.busy, () => time.now);
  const boundary = createBoundary({
    clock,
    log,
    inFlight,
    blockage,
    isDiscordFailure: () => false,
    alert: () => undefined,
  });
  return { clock, log, time, blockage, boundary, owner: ownerOf('flaky') };
}

const failing = () => {
  throw new Error('boom');
};

describe('the error boundary', () => {
  let world: ReturnType<typeof setUp>;
  beforeEach(() => {
    world = setUp();
  });
  afterEach(() => world.blockage.stop());

  it('keeps what a handler throws, at once or later, from the process, and logs it with the guild', async () => {
    const { boundary, owner } = world;
    boundary.run(owner, 'g1', 'listener messageCreate', failing);
    await boundary.run(owner, 'g1', 'listener messageCreate', async () => failing());
    expect(owner.log.entries.map(({ level, message, fields }) => [level, message, fields.guildId])).to.deep.equal([
      ['error', 'listener messageCreate failed', 'g1'],
      ['error', 'listener messageCreate failed', 'g1'],
    ]);
  });

  it('suspends a plugin in a guild at its tenth error within a minute, for a minute, and says so once', () => {
    const { boundary, owner, clock, log } = world;
    for (let error = 0; error < 9; error++) boundary.run(owner, 'g1', 'listener', failing);
    expect(boundary.suspended('flaky', 'g1')).to.equal(false);
    boundary.run(owner, 'g1', 'listener', failing);
    boundary.run(owner, 'g1', 'listener', failing);
    expect(boundary.suspended('flaky', 'g1')).to.equal(true);
    expect(boundary.suspended('flaky', 'g2')).to.equal(false);
    expect(boundary.suspended('other', 'g1')).to.equal(false);
    expect(log.entries.filter(({ level }) => level === 'warn')).to.have.length(1);
    clock.advance(60_000);
    expect(boundary.suspended('flaky', 'g1')).to.equal(false);
  });

  it('does not suspend for ten errors spread over more than a minute', () => {
    const { boundary, owner, clock } = world;
    for (let error = 0; error < 20; error++) {
      boundary.run(owner, 'g1', 'listener', failing);
      clock.advance(7_000);
    }
    expect(boundary.suspended('flaky', 'g1')).to.equal(false);
  });

  it('suspends a plugin everywhere for a minute when it is told to', () => {
    const { boundary, clock } = world;
    boundary.suspend('flaky');
    expect([boundary.suspended('flaky', 'g1'), boundary.suspended('flaky', null)]).to.deep.equal([true, true]);
    expect(boundary.suspended('other', 'g1')).to.equal(false);
    clock.advance(60_000);
    expect(boundary.suspended('flaky', 'g1')).to.equal(false);
  });

  it('counts what is under way, and tells when nothing is', async () => {
    const { boundary, owner } = world;
    const gate = deferred();
    const running = boundary.run(owner, null, 'listener', () => gate.promise);
    expect([boundary.inFlight(), boundary.inFlight('flaky'), boundary.inFlight('other')]).to.deep.equal([1, 1, 0]);
    const drained = boundary.drained(1_000, 'flaky');
    gate.resolve();
    expect(await drained).to.equal(true);
    await running;
    expect(boundary.inFlight()).to.equal(0);
  });

  it('stops waiting for the drain when its time is up', async () => {
    const { boundary, owner, clock } = world;
    const gate = deferred();
    const running = boundary.run(owner, null, 'listener', () => gate.promise);
    const drained = boundary.drained(1_000);
    clock.advance(1_000);
    expect(await drained).to.equal(false);
    gate.resolve();
    await running;
  });

  it('names the plugin whose handler held the event loop for more than 500 ms', () => {
    const { boundary, owner, time, log } = world;
    boundary.run(owner, 'g1', 'listener messageCreate', () => {
      time.now += 499;
    });
    expect(log.entries).to.deep.equal([]);
    boundary.run(owner, 'g1', 'listener messageCreate', () => {
      time.now += 501;
    });
    expect(log.entries.map(({ message }) => message)).to.deep.equal([
      'flaky held the event loop for 501 ms in listener messageCreate',
    ]);
  });
});

function deferred() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
