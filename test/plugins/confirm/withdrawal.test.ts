import { expect } from 'chai';
import { settledOf, shareHarness } from './harness.js';

const session = { id: 'task-1', name: 'this task' };
const REASON = 'what it was part of was stopped before this was decided, so it was not run';

describe('a request whose task is stopped', () => {
  const open = shareHarness();
  it('is withdrawn at once: the card says so, and nothing can run any more', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    const task = new AbortController();
    const outcome = await harness.call(alice, { what: 'milk' }, { session, signal: task.signal });
    const card = harness.latest();
    task.abort();
    expect(await settledOf(outcome)).to.deep.include({ status: 'expired', reason: REASON });
    await settled();
    expect(card.content)
      .to.match(/^~~📋/)
      .and.to.match(/\n\n🛑 Request withdrawn$/);
    expect(card.components).to.deep.equal([]);
    alice.react(card, '👍');
    await settled();
    expect(harness.runs).to.deep.equal([]);
    expect(harness.said()).to.have.length(1);
  });

  it('is not even shown when the task was stopped before', async () => {
    await using harness = await open();
    const outcome = await harness.call(harness.host.alice, { what: 'milk' }, { session, signal: AbortSignal.abort() });
    expect(outcome).to.deep.include({ status: 'expired', reason: REASON });
    expect(harness.said()).to.deep.equal([]);
  });

  it('is withdrawn, too, when the task stops while the card is being posted', async () => {
    await using harness = await open();
    const task = new AbortController();
    const stop = harness.host.discord.observe(({ type }) => {
      if (type !== 'messageCreate') return;
      stop();
      task.abort();
    });
    const outcome = await harness.call(harness.host.alice, { what: 'milk' }, { session, signal: task.signal });
    expect(await settledOf(outcome)).to.have.property('status', 'expired');
    await harness.host.settled();
    expect(harness.latest().content).to.match(/Request withdrawn$/);
  });

  it('leaves what was decided alone, and is not hooked to the task any more', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    const task = new AbortController();
    const outcome = await harness.call(alice, { what: 'milk' }, { session, signal: task.signal });
    const card = harness.latest();
    alice.react(card, '👍');
    await settled();
    task.abort();
    await settled();
    expect(await settledOf(outcome)).to.have.property('status', 'done');
    expect(card.content).to.match(/^📋/);
  });
});
