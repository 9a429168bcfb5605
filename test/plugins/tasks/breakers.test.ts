import { brokenBy, countFailure, countStep } from '@cinnabar/plugin-tasks/breakers/breakers';
import type { Call, Step, Task } from '@cinnabar/plugin-tasks/model/task';
import { expect } from 'chai';

const RULES = { maxIdenticalCalls: 3, maxIdleSteps: 4, maxErrors: 3 };
const NONE: Task['circles'] = { lastCall: '', identical: 0, idle: 0, errors: 0, failures: 0 };

const call = (name: string, input: Record<string, unknown>, outcome: Call['outcome'] = 'done'): Call => ({
  id: 'c',
  name,
  input,
  state: 'done',
  attempt: 1,
  ...(outcome === undefined ? {} : { outcome }),
});
const step = (...calls: Call[]): Step => ({ n: 1, text: '', calls });
const having = (...steps: Step[]) => steps.reduce(countStep, NONE);

describe('the breakers of a task', () => {
  it('break when the same call is made again and again, in whatever order its arguments come', () => {
    const twice = having(step(call('look', { a: 1, b: 2 })), step(call('look', { b: 2, a: 1 })));
    expect(brokenBy(twice, RULES)).to.equal(undefined);
    const thrice = countStep(twice, step(call('look', { a: 1, b: 2 })));
    expect(brokenBy(thrice, RULES)).to.include('`look` with the same arguments 3 times in a row');
  });

  it('do not break when other calls come in between', () => {
    const steps = [1, 2, 1, 2, 1, 2].map((a) => step(call('look', { a })));
    expect(brokenBy(having(...steps), RULES)).to.equal(undefined);
  });

  it('break when nothing but talk happens', () => {
    const talk = [step(), step(call('send_update', { message: 'a' }, 'told')), step()];
    expect(brokenBy(having(...talk), RULES)).to.equal(undefined);
    expect(brokenBy(having(...talk, step()), RULES)).to.include('nowhere for 4 steps');
    expect(brokenBy(having(...talk, step(call('look', {})), step()), RULES)).to.equal(undefined);
  });

  it('break when calls fail in a row, and forget it when one does not', () => {
    const failing = [1, 2].map((a) => step(call('look', { a }, 'failed')));
    expect(brokenBy(having(...failing), RULES)).to.equal(undefined);
    expect(brokenBy(having(...failing, step(call('look', { a: 3 }, 'denied'))), RULES)).to.include('3 calls in a row');
    expect(brokenBy(having(...failing, step(call('look', { a: 3 })), ...failing), RULES)).to.equal(undefined);
  });

  it('break when the model fails in a row, and forget it when it answers', () => {
    const twice = countFailure(countFailure(NONE));
    expect(brokenBy(twice, RULES)).to.equal(undefined);
    expect(brokenBy(countFailure(twice), RULES)).to.include('language model failed 3 times');
    expect(brokenBy(countFailure(countStep(twice, step(call('look', {})))), RULES)).to.equal(undefined);
  });
});
