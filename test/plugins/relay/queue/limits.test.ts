import { expect } from 'chai';
import { event, events, openQueueHarness, type QueueHarnessOptions } from './harness.js';

type Rules = ReturnType<NonNullable<QueueHarnessOptions['rules']>>;

const QUARTER_HOUR = 15 * 60_000;

describe('a full queue', () => {
  it('refuses the newest, of that guild alone', async () => {
    await using town = await openQueueHarness({ rules: () => ({ maxQueueSize: 2 }) });
    const offers = await town.offer(...events(4), event('other', 'elsewhere/general'));
    expect(offers.map(({ status }) => status)).to.deep.equal(['taken', 'taken', 'refused', 'refused', 'taken']);
    await town.drain();
    expect(town.told.flatMap(({ ids }) => ids)).to.have.members(['town/general#0', 'town/general#1', 'other']);
  });

  it('counts what waits, not what is being told', async () => {
    await using town = await openQueueHarness({ rules: () => ({ maxQueueSize: 1 }) });
    await town.offer(event('m1'));
    const [second] = await town.offer(event('m2'));
    const [third] = await town.offer(event('m3'));
    expect(second).to.deep.equal({ status: 'taken', ahead: 1 });
    expect(third).to.deep.equal({ status: 'refused', reason: 'full' });
  });

  it('drops the oldest of the guild, where that is the setting', async () => {
    await using town = await openQueueHarness({
      rules: () => ({ maxQueueSize: 2, whenFull: 'drop-oldest', rateLimitMs: 1_000 }),
    });
    await town.offer(event('told', 'town/a'));
    await town.offer(event('m1', 'town/a'), event('m2', 'town/a'));
    await town.offer(event('m3', 'town/a'));
    await town.drain();
    expect(town.told.flatMap(({ ids }) => ids)).to.deep.equal(['told', 'm2', 'm3']);
    expect((await town.queue.status('town')).dropped).to.equal(1);
  });

  it("does not count one person's direct messages against another's", async () => {
    await using town = await openQueueHarness({ rules: () => ({ maxQueueSize: 1, paused: true }) });
    const offers = await town.offer(event('m1', '@alice'), event('m2', '@bob'), event('m3', '@alice'));
    expect(offers.map(({ status }) => status)).to.deep.equal(['taken', 'taken', 'refused']);
  });

  it('tells of the first drop at once and of the others together, once a quarter of an hour and guild', async () => {
    await using town = await openQueueHarness({ rules: () => ({ maxQueueSize: 1, paused: true }) });
    await town.offer(...events(6));
    await town.offer(...events(3, 'elsewhere/general'));
    expect(town.drops).to.deep.equal([
      { guildId: 'town', channelId: 'town/general', count: 1 },
      { guildId: 'elsewhere', channelId: 'elsewhere/general', count: 1 },
    ]);
    await town.pass(QUARTER_HOUR);
    expect(town.drops.slice(2).map(({ guildId, count }) => `${guildId} ${count}`)).to.deep.equal([
      'town 4',
      'elsewhere 1',
    ]);
    await town.pass(2 * QUARTER_HOUR);
    expect(town.drops).to.have.lengthOf(4);
  });
});

describe('a paused guild', () => {
  it('keeps what it has, and goes on where it was', async () => {
    let rules: Rules = { paused: true };
    await using town = await openQueueHarness({ rules: (guild) => (guild === 'town' ? rules : {}) });
    await town.offer(...events(2), event('other', 'elsewhere/general'));
    await town.pass(3_600_000);
    expect(town.told.flatMap(({ ids }) => ids)).to.deep.equal(['other']);
    rules = {};
    town.queue.wake();
    await town.drain();
    expect(town.told.flatMap(({ ids }) => ids)).to.deep.equal(['other', 'town/general#0', 'town/general#1']);
  });
});

describe('the status of a queue', () => {
  it('shows what waits and what is being told, of that guild', async () => {
    await using town = await openQueueHarness({ rules: () => ({ rateLimitMs: 1_000 }) });
    const start = town.clock.now();
    await town.offer(...events(3), event('other', 'elsewhere/general'));
    expect(await town.queue.status('town')).to.deep.equal({
      waiting: [{ channelId: 'town/general', events: 2, oldestAt: start }],
      sending: [{ channelId: 'town/general', agent: 'aurora', since: start }],
      dropped: 0,
    });
    expect((await town.queue.status(null)).sending).to.deep.equal([]);
  });
});

describe('clearing a queue', () => {
  it('drops what waits in the guild, and lets what is being told end', async () => {
    await using town = await openQueueHarness();
    await town.offer(...events(3), ...events(2, 'elsewhere/general'));
    expect(await town.queue.clear('town')).to.equal(2);
    await town.drain();
    expect(town.told.flatMap(({ ids }) => ids)).to.have.members([
      'town/general#0',
      'elsewhere/general#0',
      'elsewhere/general#1',
    ]);
    expect(await town.queue.clear('town')).to.equal(0);
  });

  it('leaves a message that was on its way: it waits afterwards', async () => {
    await using town = await openQueueHarness({ rules: () => ({ paused: true }) });
    const offered = town.queue.enqueue(event('m1'));
    expect(await town.queue.clear('town')).to.equal(0);
    await offered;
    expect((await town.queue.status('town')).waiting).to.deep.include({
      channelId: 'town/general',
      events: 1,
      oldestAt: town.clock.now(),
    });
  });

  it('says that nothing waits once what was dropped before is on the disk', async () => {
    let finish = () => {};
    const dropped = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const nothing = async () => undefined;
    await using town = await openQueueHarness({
      rules: () => ({ paused: true }),
      queue: {
        store: {
          load: async () => [],
          append: ({ is }) => (is === 'dropped' ? dropped : Promise.resolve()),
          compact: nothing,
          close: nothing,
        },
      },
    });
    await town.offer(...events(2));
    const answers: number[] = [];
    const clears = [1, 2].map(async () => void answers.push(await town.queue.clear('town')));
    await town.quiet();
    expect(answers).to.deep.equal([]);
    finish();
    await Promise.all(clears);
    expect(answers).to.have.members([2, 0]);
  });
});
