import { countStep, loopReason } from '@cinnabar/plugin-tasks/dist/running/complete-step.js';
import type { Call, Step, Task } from '@cinnabar/plugin-tasks/dist/task.js';
import { expect } from 'chai';

const RULES = { maxIdenticalCalls: 3, maxIdleSteps: 4, maxErrors: 3 };
const NONE: Task['circles'] = { lastCall: '', identical: 0, idle: 0, errors: 0, failures: 0 };

const call = (name: string, input: Record<string, unknown>, outcome: Call['outcome'] = 'done', result = ''): Call => ({
  id: 'c',
  name,
  input,
  state: 'done',
  attempt: 1,
  result,
  ...(outcome === undefined ? {} : { outcome }),
});
const step = (...calls: Call[]): Step => ({ n: 1, text: '', calls });
const text = (said: string): Step => ({ n: 1, text: said, calls: [] });
const having = (...steps: Step[]) => steps.reduce(countStep, NONE);

describe('the loop detector of a task', () => {
  it('break when the same call returns the same again and again, in whatever order its arguments come', () => {
    const twice = having(step(call('look', { a: 1, b: 2 })), step(call('look', { b: 2, a: 1 })));
    expect(loopReason(twice, RULES)).to.equal(undefined);
    const thrice = countStep(twice, step(call('look', { a: 1, b: 2 })));
    expect(loopReason(thrice, RULES)).to.include('`look` 3 times in a row');
  });

  it('do not break when the same call returns something new: what is polled changes', () => {
    const polls = Array.from({ length: 9 }, (_, n) => step(call('look', { a: 1 }, 'done', `${n * 10} %`)));
    expect(loopReason(having(...polls), RULES)).to.equal(undefined);
  });

  it('do not break when a story is told, and break when the same is said again with other numbers', () => {
    const words = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    expect(loopReason(having(...words.map((word) => text(`Chapter ${word}`))), RULES)).to.equal(undefined);
    expect(loopReason(having(...[1, 2, 3, 4, 5].map((n) => text(`Still at it (${n})…`))), RULES)).to.include(
      'repeated myself for 4 steps',
    );
  });

  it('do not break when other calls come in between', () => {
    const steps = [1, 2, 3, 1, 2].map((a) => step(call('look', { a })));
    expect(loopReason(having(...steps), RULES)).to.equal(undefined);
    expect(loopReason(having(...steps, ...steps), RULES)).to.include('repeated myself');
  });

  it('break when nothing but talk happens', () => {
    const talk = [step(), step(call('send_update', { message: 'a' }, 'told')), step()];
    expect(loopReason(having(...talk), RULES)).to.equal(undefined);
    const more = [...talk, step(), step()];
    expect(loopReason(having(...more), RULES)).to.equal(undefined);
    expect(loopReason(having(...more, step()), RULES)).to.include('repeated myself for 4 steps');
    expect(loopReason(having(...more, step(call('look', {})), step()), RULES)).to.equal(undefined);
  });

  it('break when calls fail in a row, and forget it when one does not', () => {
    const failing = [1, 2].map((a) => step(call('look', { a }, 'failed')));
    expect(loopReason(having(...failing), RULES)).to.equal(undefined);
    expect(loopReason(having(...failing, step(call('look', { a: 3 }, 'denied'))), RULES)).to.include(
      '3 calls in a row',
    );
    expect(loopReason(having(...failing, step(call('look', { a: 3 })), ...failing), RULES)).to.equal(undefined);
  });

  it('break when the model fails in a row, and forget it when it answers', () => {
    const twice = { ...NONE, failures: 2 };
    expect(loopReason(twice, RULES)).to.equal(undefined);
    expect(loopReason({ ...NONE, failures: 3 }, RULES)).to.include('language model failed 3 times');
    expect(loopReason(countStep(twice, step(call('look', {}))), RULES)).to.equal(undefined);
  });
});
