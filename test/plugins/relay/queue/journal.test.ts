import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeFolder } from '../../../support/folder.js';
import { event, journalIn, openJournalIn } from './harness.js';

type QueueRecord = Awaited<ReturnType<typeof openJournalIn>>['kept'][number];

const taken = (n: number, content = `text ${n}`): QueueRecord => {
  const one = event(`m${n}`);
  return { is: 'taken', n, at: 0, event: { ...one, facts: { ...one.facts, content } } };
};

describe("the queue's journal", () => {
  it('gives back what was written, in its order, for the eyes of the host alone', async () => {
    using folder = makeFolder();
    const sent: QueueRecord = { is: 'sent', key: 'k', of: [0, 1], attempt: 1, failures: 0 };
    const records = [taken(0), taken(1), sent];
    const { journal, write } = await openJournalIn(folder.path);
    await Promise.all(records.map(write));
    await journal.close();
    expect((await openJournalIn(folder.path)).loaded).to.deep.equal(records);
    expect(statSync(join(folder.path, 'queue.jsonl')).mode & 0o777).to.equal(0o600);
  });

  it('leaves out what cannot be read, says so, and does not append to it', async () => {
    using folder = makeFolder({ 'queue.jsonl': `${JSON.stringify(taken(0))}\n{"is":"nonsense"}\n{"is":"taken","n":` });
    const { loaded, log, write, journal, text } = await openJournalIn(folder.path);
    expect(loaded).to.deep.equal([taken(0)]);
    expect(log.entries.map(({ fields }) => fields)).to.deep.equal([{ damaged: 2 }]);
    await write(taken(1));
    expect(text()).to.equal(`${JSON.stringify(taken(1))}\n`);
    await journal.close();
  });

  it('recovers from a write that failed: the next one writes all of it anew', async () => {
    using folder = makeFolder();
    const { write, journal, text } = await openJournalIn(folder.path);
    const obstacle = join(folder.path, 'queue.jsonl.new');
    mkdirSync(obstacle);
    const problem = await write(taken(0)).catch((error: unknown) => error);
    expect(problem).to.be.instanceOf(Error);
    rmSync(obstacle, { recursive: true });
    await write(taken(1));
    expect(text().split('\n').filter(Boolean)).to.have.lengthOf(2);
    await journal.close();
  });

  it('does not grow without bound, even within the minute until it is compacted', async () => {
    using folder = makeFolder();
    const { write, journal, kept, text } = await openJournalIn(folder.path);
    for (let n = 0; n < 12; n += 1) {
      await write(taken(n, 'x'.repeat(1_000_000)));
      kept.length = 0;
    }
    expect(text().length).to.be.below(6_000_000);
    await journal.close();
    expect(text()).to.equal('');
  });

  it('takes nothing before it was loaded, nor after it was closed', async () => {
    using folder = makeFolder();
    const { journal } = journalIn(folder.path);
    expect(await journal.append(taken(0)).catch((error: unknown) => error)).to.match(/not open/);
    await journal.load(() => []);
    await journal.close();
    expect(await journal.append(taken(0)).catch((error: unknown) => error)).to.match(/not open/);
  });
});
