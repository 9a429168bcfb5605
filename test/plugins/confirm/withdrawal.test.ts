import { createBoard } from '@cinnabar/plugin-confirm/waiting/board';
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

describe('the board of waiting cards', () => {
  it('lets no guild push out another’s: each has its own limit', () => {
    const board = createBoard<ReturnType<typeof card>>();
    const card = (guildId: string | null, index: number) => ({
      callId: `${index}`,
      userId: '1',
      guildId,
      channelId: guildId ?? 'dm',
      messageId: `${guildId}-${index}`,
    });
    const quiet = card('quiet', 0);
    board.add(quiet);
    const busy = [1, 2, 3, 4].map((index) => card('busy', index));
    for (const one of busy) board.add(one);
    board.add(card(null, 9));
    expect(board.surplus({ guildId: 'busy', channelId: 'x' }, 3)?.callId).to.equal('1');
    expect(board.surplus(quiet, 3)).to.equal(undefined);
    expect(board.surplus({ guildId: null, channelId: 'dm' }, 3)).to.equal(undefined);
    for (const one of busy) board.take(one);
    expect(board.surplus({ guildId: 'busy', channelId: 'x' }, 0)).to.equal(undefined);
  });
});
