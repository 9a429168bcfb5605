import { isFinal, mayBecome, TRANSITIONS } from '@cinnabar/plugin-tasks/dist/task.js';
import { TASK_STATUSES, type TaskStatus } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';

const status = fc.constantFrom(...TASK_STATUSES);

describe('the life of a task', () => {
  it('ends as completed, cancelled or error, and nowhere else', () => {
    expect(TASK_STATUSES.filter(isFinal)).to.deep.equal(['completed', 'cancelled', 'error']);
  });

  it('can be stopped, and can fail, from wherever it is', () => {
    for (const from of TASK_STATUSES.filter((one) => !isFinal(one))) {
      expect(TRANSITIONS[from], from).to.include.members(['cancelled', 'error']);
    }
  });

  it('can be put back in line from wherever it is, so that a restart can go on with it', () => {
    for (const from of TASK_STATUSES.filter((one) => !isFinal(one)))
      expect(mayBecome(from, 'queued'), from).to.equal(true);
  });

  it('never leaves an end, whatever is tried', () => {
    fc.assert(
      fc.property(fc.array(status, { maxLength: 40 }), (wanted) => {
        let now: TaskStatus = 'queued';
        let ended: TaskStatus | undefined;
        for (const next of wanted) {
          if (mayBecome(now, next)) now = next;
          if (ended !== undefined) expect(now).to.equal(ended);
          if (isFinal(now)) ended = now;
        }
      }),
    );
  });

  it('runs a tool only while it works: neither from a question, nor from a pause, nor out of the line', () => {
    for (const from of TASK_STATUSES) {
      if (from === 'running' || from === 'thinking' || from === 'tool_executing') continue;
      expect(mayBecome(from, 'tool_executing'), from).to.equal(false);
    }
  });
});
