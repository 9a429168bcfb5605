import { expect } from 'chai';
import fc from 'fast-check';
import { openAlerts } from './harness.js';

const HOUR = 3_600_000;

interface Sent {
  readonly at: number;
  readonly content: string;
}

/** An owner who may be unreachable, and a bot that can be restarted on the same data. */
function setUp() {
  const { clock, queue: open } = openAlerts();
  const sent: Sent[] = [];
  const owner = { reachable: true, answers: true };
  const start = async () => {
    const queue = open({
      reachable: async () => owner.reachable,
      async send(write) {
        const content = write(false);
        if (!owner.answers) return { isDone: false, missed: [{ userId: 'you', content }] };
        sent.push({ at: clock.now(), content });
        return { isDone: true, missed: [] };
      },
    });
    await queue.open();
    return queue;
  };
  return { clock, sent, owner, start };
}

/** Resolves when all pending work in memory is done. */
const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
};

/** Number of alerts of a kind in a message: their texts are `<kind> <number>.` */
function told(content: string, kind: string): number {
  const blocks = content.split('⚠️ ').filter((block) => block.startsWith(kind));
  const lines = blocks.join('').split('\n');
  const worded = lines.filter((line) => line.startsWith(`${kind} `)).length;
  const more = lines.flatMap((line) => /and (\d+) more time/.exec(line)?.[1] ?? []);
  return more.reduce((sum, count) => sum + Number(count), worded);
}

const KINDS = ['disk', 'model', 'crash'] as const;
const step = fc.oneof(
  fc.record({ do: fc.constant('alert' as const), kind: fc.constantFrom(...KINDS), text: fc.nat(5) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1_000, max: HOUR }) }),
  fc.record({ do: fc.constant('owner' as const), reachable: fc.boolean(), answers: fc.boolean() }),
  fc.record({ do: fc.constantFrom('restart' as const, 'reconnect' as const) }),
);

type World = ReturnType<typeof setUp>;
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Plays the steps, and waits until the rest is sent. @returns the number of raised alerts by kind */
async function play({ clock, owner, start }: World, steps: readonly Step[]): Promise<ReadonlyMap<string, number>> {
  const raised = new Map<string, number>();
  let queue = await start();
  const doStep = async (one: Step) => {
    switch (one.do) {
      case 'alert':
        raised.set(one.kind, (raised.get(one.kind) ?? 0) + 1);
        return queue.alert({ kind: one.kind, text: `${one.kind} ${one.text}.`, remedy: 'Do something.' });
      case 'wait':
        return clock.advance(one.ms);
      case 'owner':
        return Object.assign(owner, { reachable: one.reachable, answers: one.answers });
      case 'reconnect':
        return queue.retry();
      case 'restart':
        await queue.close();
        queue = await start();
    }
  };
  for (const one of steps) {
    await doStep(one);
    await settled();
  }
  Object.assign(owner, { reachable: true, answers: true });
  for (let quarter = 0; quarter < 12; quarter++) {
    clock.advance(HOUR / 4);
    await settled();
  }
  await queue.close();
  return raised;
}

describe('the queue of alerts', () => {
  it('sends each kind at most once an hour and every alert once, whatever fails and however often it is started again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const world = setUp();
        const raised = await play(world, steps);
        const { sent, clock } = world;
        for (const kind of KINDS) {
          const times = sent.filter(({ content }) => told(content, kind) > 0).map(({ at }) => at);
          const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
          expect(Math.min(HOUR, ...gaps), `${kind}: ${gaps}`).to.equal(HOUR);
          const sum = sent.reduce((total, { content }) => total + told(content, kind), 0);
          expect(sum, `${kind}\n${sent.map(({ content }) => content).join('\n')}`).to.equal(raised.get(kind) ?? 0);
        }
        expect(clock.pending).to.equal(0);
      }),
      { numRuns: 60 },
    );
  });
});
