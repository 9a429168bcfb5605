import { callTools, type ModelStep, say } from '@cinnabar/local-models';
import { CinnabarError, definePlugin, ToolPolicies, UserError, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { done, isOver, openTaskHarness, type TaskHarness, update } from './harness.js';

/** A tool whose result is the same each time, unless it polls. */
function peeking() {
  let polls = 0;
  return definePlugin({
    manifest: { id: 'peeking', version: '1.0.0', description: 'Peeks' },
    setup({ tool }) {
      for (const name of ['peek', 'forbidden'])
        tool({
          name,
          description: 'Peeks.',
          input: z.object({ a: z.number(), b: z.number().default(0) }),
          risk: 'read',
          run: ({ a }) => {
            if (a < 0) throw new UserError('It broke.');
            return a === 0 ? `${++polls * 10} %` : 'nothing';
          },
        });
    },
  });
}

const call = (name: string, input: Readonly<Record<string, unknown>>) => callTools([{ name, arguments: input }]);
const peek = (a: number) => call('peek', { a });
const POLL = peek(0);
const broken = (n: number) => peek(-n);
const DONE = done('That is all.');

describe('the loop detector of a task', () => {
  let harness: TaskHarness;
  let tasks = 0;
  let queue: (ModelStep | CinnabarError)[] = [];
  const nextStep = () => {
    const step = queue.shift() ?? DONE;
    if (step instanceof CinnabarError) throw step;
    return step;
  };
  before(async () => {
    harness = await openTaskHarness({ steps: nextStep, plugins: [peeking()] });
    for (const [key, value] of Object.entries({ maxIdenticalCalls: 3, maxIdleSteps: 4, maxErrors: 3 }))
      await harness.configure(key, String(value));
    await harness.host.resolve(ToolPolicies).set(harness.host.guild.id, 'forbidden', 'deny');
  });
  after(() => harness[Symbol.asyncDispose]());

  /** How a task ends whose model takes these steps, and then says that it is done: after how many steps, and why, or its result. */
  const endOf = async (...steps: typeof queue) => {
    queue = [...steps];
    const { id } = await harness.give(`Task ${++tasks}`);
    const ended = harness.when(id, isOver);
    // Between two attempts of a failing model there is a pause.
    if (steps.some((step) => step instanceof CinnabarError))
      for (let n = 0; n < 8; n += 1) await harness.host.advance(5_000);
    const { ending, stepCount } = await ended;
    return `${stepCount} steps: ${ending}`;
  };
  const ALL = 'That is all.';

  it('break when the same call returns the same again and again, in whatever order its arguments come', async () => {
    const [one, other] = [call('peek', { a: 1, b: 2 }), call('peek', { b: 2, a: 1 })];
    expect(await endOf(one, other, one)).to.match(/^3 steps: .*`peek` 3 times in a row/);
  });

  it('do not break when the same call returns something new: what is polled changes', async () => {
    expect(await endOf(...Array.from({ length: 9 }, () => POLL))).to.include(ALL);
  });

  it('do not break when a story is told, and break when the same is said again with other numbers', async () => {
    const words = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    expect(await endOf(...words.map((word) => say(`Chapter ${word}`)))).to.include(ALL);
    expect(await endOf(...[1, 2, 3, 4, 5].map((n) => say(`Still at it (${n})…`)))).to.match(
      /^5 steps: .*repeated myself for 4 steps/,
    );
  });

  it('do not break at once when other calls come in between', async () => {
    const calls = [1, 2, 3, 1, 2].map(peek);
    expect(await endOf(...calls, ...calls)).to.match(/^7 steps: .*repeated myself/);
  });

  it('break when nothing but talk happens', async () => {
    const talk = [say('Hm.'), update('Not yet.'), say('Hm.'), say('Hm.'), say('Hm.')];
    expect(await endOf(...talk, say('Hm.'))).to.match(/^6 steps: .*repeated myself for 4 steps/);
    expect(await endOf(...talk, peek(1), say('Hm.'))).to.include(ALL);
  });

  it('break when calls fail in a row, and forget it when one does not', async () => {
    const failing = [1, 2].map(broken);
    expect(await endOf(...failing, call('forbidden', { a: 3 }))).to.match(/^3 steps: .*3 calls in a row/);
    expect(await endOf(...failing, peek(3), ...failing)).to.include(ALL);
  });

  it('break when the model fails in a row, and forget it when it answers', async () => {
    const failure = new CinnabarError('CINNABAR_LLM_MALFORMED', { model: 'scripted' });
    const failing = [failure, failure];
    expect(await endOf(...failing, peek(1), ...failing)).to.include(ALL);
    expect(await endOf(...failing, failure)).to.include('language model failed 3 times');
  });
});
