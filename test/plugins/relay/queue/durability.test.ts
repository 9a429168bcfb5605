import { expect } from 'chai';
import { DONE, event, events, FAILED, openQueueHarness, type QueueHarnessOptions, REFUSED } from './harness.js';

type QueueStore = NonNullable<NonNullable<QueueHarnessOptions['queue']>['store']>;
type QueueRecord = Parameters<QueueStore['append']>[0];

const MINUTE = 60_000;

describe('a queue whose process is killed', () => {
  it('keeps the taken events, in order', async () => {
    await using town = await openQueueHarness({ rules: () => ({ rateLimitMs: 10_000 }) });
    await town.offer(event('m1'));
    await town.pass(1_000);
    await town.offer(event('m2'), event('m3'));
    await town.crash();
    await town.drain();
    expect(town.told.flatMap(({ ids }) => ids)).to.deep.equal(['m1', 'm2', 'm3']);
  });

  it('sends what it had sent again: the same events under the same key, whatever has come since', async () => {
    await using town = await openQueueHarness({ queue: { mostTogether: 10 } });
    await town.offer(event('m1'));
    await town.offer(event('m2'), event('m3'));
    await town.pass(300);
    await town.offer(event('m4'));
    await town.crash();
    await town.offer(event('m5'));
    await town.drain();
    const [, before, again, after] = town.told;
    expect(before?.ids).to.deep.equal(['m2', 'm3']);
    expect(again).to.deep.include({ ids: ['m2', 'm3'], key: before?.key });
    expect(after?.ids).to.deep.equal(['m4', 'm5']);
    expect(after?.key).to.not.equal(before?.key);
  });

  it('does not deliver handled events again', async () => {
    await using town = await openQueueHarness();
    await town.offer(...events(3));
    await town.drain();
    await town.crash();
    expect(await town.offer(...events(3))).to.deep.equal(Array(3).fill({ status: 'duplicate' }));
    await town.pass(MINUTE);
    expect(town.told).to.have.lengthOf(3);
  });

  it('does without a line that was cut off in the middle', async () => {
    await using town = await openQueueHarness();
    await town.offer(event('m1'), event('m2'));
    await town.crash('{"is":"taken","n":9,"at":1,"ev');
    await town.drain();
    await town.crash();
    await town.drain();
    expect([...new Set(town.told.flatMap(({ ids }) => ids))]).to.deep.equal(['m1', 'm2']);
  });

  it('forgets no failure of a batch', async () => {
    await using town = await openQueueHarness({
      answer: () => ({ status: 'failed', retry: true, sentence: 'It failed.', error: undefined }),
    });
    await town.offer(event('m1'));
    // Time for the first attempt and, a second later, the first retry.
    await town.pass(1_300);
    expect(town.told).to.have.lengthOf(2);
    await town.crash();
    await town.drain();
    expect(town.told.length).to.equal(2 + 3);
    expect(new Set(town.told.map(({ key }) => key)).size).to.equal(1);
    expect(town.failures).to.have.lengthOf(1);
  });

  it('repeats an interrupted notice that the agent is unreachable', async () => {
    let said = 0;
    const onFailed = () => {
      said += 1;
      return said === 1 ? new Promise(() => undefined) : undefined;
    };
    await using town = await openQueueHarness({ answer: () => REFUSED, queue: { onFailed } });
    await town.offer(event('m1'));
    await town.pass(1_000);
    await town.crash();
    await town.drain();
    expect(said).to.equal(2);
  });
});

describe('a queue that is stopped', () => {
  it('aborts what is being told, and leaves it for the next process', async () => {
    await using town = await openQueueHarness({ latencyMs: 60_000 });
    await town.offer(event('m1'), event('m2'));
    await town.queue.stop();
    await town.crash();
    await town.drain();
    expect(town.told.map(({ ids: [id], key }) => `${id} ${key}`)).to.deep.equal(['m1 key-1', 'm1 key-1', 'm2 key-2']);
    expect(town.failures).to.deep.equal([]);
  });

  it('waits three seconds for a delivery that does not notice, and no longer', async () => {
    await using town = await openQueueHarness({ latencyMs: 60_000, isDeaf: true });
    await town.offer(event('m1'));
    let isStopped = false;
    const stopping = town.queue.stop().then(() => {
      isStopped = true;
    });
    await town.pass(2_999);
    expect(isStopped).to.equal(false);
    await town.pass(1);
    await stopping;
    await town.crash();
    await town.drain();
    expect(town.told.map(({ key }) => key)).to.deep.equal(['key-1', 'key-1']);
  });

  it('takes nothing more', async () => {
    await using town = await openQueueHarness();
    await town.queue.stop();
    const refusal = await town.queue.enqueue(event('m1')).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(Error);
    await town.crash();
    expect(town.journal).to.not.include('m1');
  });
});

describe('the same event', () => {
  it('is taken once, also when it comes twice at a time', async () => {
    await using town = await openQueueHarness();
    const offers = await town.offer(event('m1'), event('m1'), event('m1', 'town/elsewhere'));
    expect(offers.map(({ status }) => status)).to.deep.equal(['taken', 'duplicate', 'duplicate']);
    await town.drain();
    expect(await town.offer(event('m1'))).to.deep.equal([{ status: 'duplicate' }]);
    expect(town.told).to.have.lengthOf(1);
  });
});

describe("members' words", () => {
  it('are gone from the disk a minute after they are done with', async () => {
    await using town = await openQueueHarness();
    await town.offer(event('m1'));
    expect(town.journal).to.include('text of m1');
    await town.drain();
    await town.pass(MINUTE);
    await town.until(() => !town.journal.includes('text of m1'));
    expect(town.journal).to.include('m1');
  });

  it('are gone when the queue is stopped', async () => {
    await using town = await openQueueHarness();
    await town.offer(event('m1'));
    await town.drain();
    await town.queue.stop();
    expect(town.journal).to.not.include('text of');
  });

  it('are theirs to see and to have forgotten, in what others have said, too', async () => {
    await using town = await openQueueHarness({ rules: () => ({ paused: true }) });
    const link = {
      messageId: 'm0',
      authorId: 'bob',
      author: 'Bob',
      content: 'words of Bob',
      timestamp: '',
      isBot: false,
    };
    const { facts } = event('m2');
    const byBob = { ...event('m1'), userId: 'bob', facts: { ...facts, author: null } };
    await town.offer(byBob, event('m2', 'town/general', { facts: { ...facts, chain: [link] } }), event('m3'));
    expect((await town.queue.of('bob')).map(({ id }) => id)).to.deep.equal(['m1', 'm2']);
    await town.queue.forget('bob');
    expect(await town.queue.of('bob')).to.deep.equal([]);
    expect(town.journal).to.not.include('words of Bob');
    expect((await town.queue.of('alice')).map(({ id }) => id)).to.deep.equal(['m2', 'm3']);
  });

  it('can be forgotten while they are being told: nothing of it is told again', async () => {
    let paused = true;
    await using town = await openQueueHarness({
      answer: () => (town.told.length === 1 ? FAILED : DONE),
      rules: () => ({ paused }),
      queue: { mostTogether: 2 },
    });
    await town.offer(event('m1', 'town/general', { userId: 'bob' }), event('m2', 'town/general', { userId: 'carol' }));
    paused = false;
    town.queue.wake();
    await town.quiet();
    await town.queue.forget('bob');
    await town.drain();
    expect(town.told.map(({ ids }) => ids)).to.deep.equal([['m1', 'm2'], ['m2']]);
    expect(town.told[1]?.key).to.equal(town.told[0]?.key);
  });
});

/** A store that keeps nothing, and fails for records for which `isFull` returns `true`. */
const failingStore = (isFull: (record: QueueRecord) => boolean): QueueStore => ({
  load: async () => [],
  append: async (record) => {
    if (isFull(record)) throw new Error('no space left on device');
  },
  compact: async () => undefined,
  close: async () => undefined,
});

describe('a disk that accepts no more writes', () => {
  it('is not acknowledged, so that the event may be offered again', async () => {
    let isFull = true;
    await using town = await openQueueHarness({ queue: { store: failingStore(() => isFull) } });
    const problem = await town.queue.enqueue(event('m1')).catch((error: unknown) => error);
    expect(problem).to.match(/no space left/);
    await town.pass(60_000);
    expect(town.told).to.deep.equal([]);
    expect((await town.queue.status('town')).waiting).to.deep.equal([]);
    isFull = false;
    expect(await town.offer(event('m1'))).to.deep.equal([{ status: 'taken', ahead: 0 }]);
  });

  it('lets no event be sent before it accepts writes again', async () => {
    let isFull = true;
    await using town = await openQueueHarness({ queue: { store: failingStore(({ is }) => is === 'sent' && isFull) } });
    await town.offer(event('m1'));
    await town.pass(60_000);
    expect(town.told).to.deep.equal([]);
    isFull = false;
    await town.drain();
    expect(town.told.flatMap(({ ids }) => ids)).to.deep.equal(['m1']);
  });
});

describe('settings that cannot be read', () => {
  it('put the channel off for five seconds, and lose nothing', async () => {
    let times = 0;
    await using town = await openQueueHarness({
      queue: {
        async agentFor() {
          times += 1;
          if (times < 3) throw new Error('the document is damaged');
          return 'aurora';
        },
      },
    });
    const start = town.clock.now();
    await town.offer(event('m1'));
    await town.drain();
    expect(town.told.map(({ from }) => from - start)).to.deep.equal([10_000]);
  });
});
