import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRuns, HEARTBEAT_MS, type Run } from '@cinnabar/plugin-tasks/dist/journal/journal.js';
import type { Collection, Document } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';

/** Records of runs, as storage keeps them. */
function openRecords(): Collection<Run, 'global'> & { readonly kept: Map<string, Run> } {
  const kept = new Map<string, Run>();
  const of = (key: string | { readonly id: string }): Document<Run> => {
    const id = typeof key === 'string' ? key : key.id;
    const get = async () => {
      const found = kept.get(id);
      if (found === undefined) throw new Error('there is none');
      return found;
    };
    const set = async (run: Run) => {
      kept.set(id, run);
      return run;
    };
    return {
      find: async () => kept.get(id),
      get,
      set,
      async update(change) {
        const draft = { ...(await get()) };
        await change(draft);
        return set(draft);
      },
      async delete() {
        kept.delete(id);
      },
    };
  };
  return {
    kept,
    of,
    async *entries() {
      yield* [...kept.entries()];
    },
    watch: () => () => undefined,
  };
}

describe('who carries a task out', () => {
  const clock = createManualClock();
  const open = (records: ReturnType<typeof openRecords>, run: string, lives = () => true) =>
    createRuns({ runs: records, run, clock, lives });

  it('is whoever holds its lease, as long as their process lives', async () => {
    const records = openRecords();
    await open(records, 'mine').beat();
    const [mine] = records.kept.values();
    if (mine === undefined) throw new Error('nothing was written');
    records.kept.set('other', { ...mine, pid: mine.pid + 1 });
    expect((await open(records, 'mine').free())('other')).to.equal(false);
    expect((await open(records, 'mine', () => false).free())('other')).to.equal(true);
    expect([...records.kept.keys()]).to.deep.equal(['mine']);
  });

  it('is not itself free for itself, but what nobody holds is', async () => {
    const records = openRecords();
    const runs = open(records, 'mine');
    await runs.beat();
    const isFree = await runs.free();
    expect([isFree('mine'), isFree(undefined), isFree('long gone')]).to.deep.equal([false, true, true]);
  });

  it('on another machine is over when it has been silent for three heartbeats', async () => {
    const records = openRecords();
    records.kept.set('far', { machine: 'another', pid: 1, seenAt: clock.now() });
    const runs = open(records, 'mine');
    clock.advance(3 * HEARTBEAT_MS);
    expect((await runs.free())('far')).to.equal(false);
    clock.advance(1);
    expect((await runs.free())('far')).to.equal(true);
  });

  it('is recognised as dead when the process was killed', async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    const records = openRecords();
    const runs = createRuns({ runs: records, run: 'mine', clock });
    await runs.beat();
    const [mine] = records.kept.values();
    if (mine === undefined || child.pid === undefined) throw new Error('nothing was started');
    records.kept.set('child', { ...mine, pid: child.pid });
    expect((await runs.free())('child')).to.equal(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await runs.free())('child')).to.equal(true);
  });
});
