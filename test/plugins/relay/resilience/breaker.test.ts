import { expect } from 'chai';
import { DONE, event, events, FAILED, openQueueHarness, REFUSED } from '../queue/harness.js';

const HALF_MINUTE = 30_000;
const places = Array.from({ length: 8 }, (_, n) => `town/${n}`);

/** A harness with an agent whose failures the test controls. */
async function townWithAgent() {
  const state = { broken: true };
  const town = await openQueueHarness({
    answer: ([{ agent }]) => (state.broken && agent === 'aurora' ? FAILED : DONE),
    queue: { agentFor: async ({ agent }) => agent },
  });
  return { town, state };
}

describe('an agent that fails five times in a row', () => {
  it('is left alone for half a minute', async () => {
    const { town } = await townWithAgent();
    await using _ = town;
    await town.offer(...places.slice(0, 5).map((place) => event(place, place)));
    await town.pass(HALF_MINUTE);
    expect(town.told).to.have.lengthOf(5);
    await town.offer(event('late', 'town/late'));
    expect(town.told).to.have.lengthOf(5);
  });

  it('is then tried by one event at a time', async () => {
    const { town } = await townWithAgent();
    await using _ = town;
    await town.offer(...places.map((place) => event(place, place)));
    await town.pass(200);
    expect(town.told).to.have.lengthOf(8);
    await town.pass(HALF_MINUTE + 200);
    expect(town.told).to.have.lengthOf(9);
    await town.pass(HALF_MINUTE + 200);
    expect(town.told).to.have.lengthOf(10);
  });

  it('is told of everything once it answers again: nothing is lost, no retry was burnt', async () => {
    const { town, state } = await townWithAgent();
    await using _ = town;
    await town.offer(...places.flatMap((place) => events(2, place)));
    await town.pass(4 * 60_000);
    state.broken = false;
    await town.drain();
    expect(town.failures).to.deep.equal([]);
    const done = town.told.filter(({ delivery }) => delivery === DONE);
    expect(done.flatMap(({ ids }) => ids)).to.have.members(places.flatMap((place) => [`${place}#0`, `${place}#1`]));
  });

  it('drops its events after ten minutes, with a sentence, all of a channel at once', async () => {
    const { town } = await townWithAgent();
    await using _ = town;
    await town.offer(...places.map((place) => event(place, place)));
    await town.pass(9 * 60_000);
    expect(town.failures).to.deep.equal([]);
    await town.pass(2 * 60_000);
    expect(town.failures.flatMap((failure) => failure.events.map(({ id }) => id))).to.have.members(places);
    expect(town.failures[0]?.sentence).to.match(/has not answered for a while/);
  });

  it('does not keep events of another agent waiting, not even in the same channel', async () => {
    const { town } = await townWithAgent();
    await using _ = town;
    await town.offer(...places.map((place) => event(place, place)));
    await town.pass(200);
    const from = town.clock.now();
    await town.offer(
      event('b1', 'town/0', { agent: 'borealis' }),
      event('a2', 'town/0'),
      event('b2', 'town/0', { agent: 'borealis' }),
      event('b3', 'elsewhere/general', { agent: 'borealis' }),
    );
    await town.pass(1_000);
    const borealis = town.told.filter(({ agent }) => agent === 'borealis');
    expect(borealis.map(({ ids: [id] }) => id)).to.deep.equal(['b1', 'b3', 'b2']);
    expect(borealis[0]?.from).to.equal(from);
  });

  it('is left at once by what is for another agent from now on', async () => {
    const state = { target: 'broken' };
    await using town = await openQueueHarness({
      answer: () => (state.target === 'broken' ? FAILED : DONE),
      queue: { agentFor: async () => state.target },
    });
    await town.offer(...places.map((place) => event(place, place)));
    await town.pass(5_000);
    state.target = 'whole';
    town.queue.wake();
    await town.pass(200);
    const done = town.told.filter(({ delivery }) => delivery === DONE);
    expect(done.flatMap(({ ids }) => ids)).to.have.members(places);
    for (const { key, ids } of done) expect(town.told.find((one) => one.key === key)?.ids).to.deep.equal(ids);
  });

  it('does not count a refusal as a failure', async () => {
    await using town = await openQueueHarness({ answer: () => REFUSED, queue: { agentFor: async () => 'aurora' } });
    await town.offer(...Array.from({ length: 20 }, (_, n) => event(`m${n}`, `town/${n % 4}`)));
    await town.pass(2_000);
    expect(town.told).to.have.lengthOf(20);
  });

  it('is not paused while its guild is available', async () => {
    const state = { broken: true, paused: false };
    await using town = await openQueueHarness({
      answer: () => (state.broken ? FAILED : DONE),
      rules: () => ({ paused: state.paused }),
      queue: { agentFor: async () => 'aurora' },
    });
    await town.offer(...places.map((place) => event(place, place)));
    await town.pass(1_000);
    state.paused = true;
    town.queue.wake();
    await town.pass(3_600_000);
    state.paused = false;
    state.broken = false;
    town.queue.wake();
    await town.drain();
    expect(town.failures).to.deep.equal([]);
  });
});
