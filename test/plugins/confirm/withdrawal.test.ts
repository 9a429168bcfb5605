import { expect } from 'chai';
import { openDesk, settledOf } from './desk.js';

const session = { id: 'task-1', name: 'this task' };
const REASON = 'what it was part of was stopped before this was decided, so it was not run';

describe('a request whose task is stopped', () => {
  it('is withdrawn at once: the card says so, and nothing can run any more', async () => {
    await using desk = await openDesk();
    const { alice, settled } = desk.host;
    const task = new AbortController();
    const outcome = await desk.call(alice, { what: 'milk' }, { session, signal: task.signal });
    const card = desk.latest();
    task.abort();
    expect(await settledOf(outcome)).to.deep.include({ status: 'expired', reason: REASON });
    await settled();
    expect(card.content)
      .to.match(/^~~📋/)
      .and.to.match(/\n\n🛑 Request withdrawn$/);
    expect(card.components).to.deep.equal([]);
    alice.react(card, '👍');
    await settled();
    expect(desk.runs).to.deep.equal([]);
    expect(desk.said()).to.have.length(1);
  });

  it('is not even shown when the task was stopped before', async () => {
    await using desk = await openDesk();
    const outcome = await desk.call(desk.host.alice, { what: 'milk' }, { session, signal: AbortSignal.abort() });
    expect(outcome).to.deep.include({ status: 'expired', reason: REASON });
    expect(desk.said()).to.deep.equal([]);
  });

  it('is withdrawn, too, when the task stops while the card is being posted', async () => {
    await using desk = await openDesk();
    const task = new AbortController();
    const stop = desk.host.discord.observe(({ type }) => {
      if (type !== 'messageCreate') return;
      stop();
      task.abort();
    });
    const outcome = await desk.call(desk.host.alice, { what: 'milk' }, { session, signal: task.signal });
    expect(await settledOf(outcome)).to.have.property('status', 'expired');
    await desk.host.settled();
    expect(desk.latest().content).to.match(/Request withdrawn$/);
  });

  it('leaves what was decided alone, and is not hooked to the task any more', async () => {
    await using desk = await openDesk();
    const { alice, settled } = desk.host;
    const task = new AbortController();
    const outcome = await desk.call(alice, { what: 'milk' }, { session, signal: task.signal });
    const card = desk.latest();
    alice.react(card, '👍');
    await settled();
    task.abort();
    await settled();
    expect(await settledOf(outcome)).to.have.property('status', 'done');
    expect(card.content).to.match(/^📋/);
  });
});
