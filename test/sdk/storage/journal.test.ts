import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openJournal, sentenceOf, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { failure } from '../../support/codes.js';
import { makeFolder } from '../../support/folder.js';

const schema = z.object({ n: z.number() });
const lines = (...ns: readonly number[]) => ns.map((n) => `{"n":${n}}\n`).join('');

function given(content?: string) {
  const folder = makeFolder(content === undefined ? {} : { 'journal.jsonl': content });
  const path = join(folder.path, 'journal.jsonl');
  const open = () => openJournal(path, schema);
  return { folder, path, open, text: () => readFileSync(path, 'utf8') };
}

describe('a journal', () => {
  it('holds nothing before the first record, and then makes its folder, for the user of the process alone', async () => {
    using folder = makeFolder();
    const path = join(folder.path, 'a', 'b', 'journal.jsonl');
    const journal = openJournal(path, schema);
    expect(await journal.read()).to.deep.equal({ records: [], damaged: 0, torn: false });
    await journal.append({ n: 1 });
    await journal.release();
    expect((await journal.read()).records).to.deep.equal([{ n: 1 }]);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(statSync(join(folder.path, 'a')).mode & 0o777).to.equal(0o700);
  });

  it('tells a torn last line from damage, and does not add to it', async () => {
    const torn = given(`${lines(1)}{"n":`);
    using _ = torn.folder;
    expect(await torn.open().read()).to.deep.equal({ records: [{ n: 1 }], damaged: 1, torn: true });
    const journal = torn.open();
    await journal.append({ n: 2 });
    await journal.release();
    expect((await journal.read()).records).to.deep.equal([{ n: 1 }, { n: 2 }]);

    const damaged = given(`\0\0\0\n${lines(1)}{"n":"one"}\n${lines(2)}`);
    using __ = damaged.folder;
    expect(await damaged.open().read()).to.deep.equal({ records: [{ n: 1 }, { n: 2 }], damaged: 2, torn: false });
  });

  it('keeps the order of what is appended and rewritten, whatever is handed over at once', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('append' as const), n: fc.nat() }),
      fc.record({ kind: fc.constant('rewrite' as const), ns: fc.array(fc.nat(), { maxLength: 3 }) }),
      fc.record({ kind: fc.constant('wait' as const) }),
      fc.record({ kind: fc.constant('release' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { folder, open } = given();
        using _ = folder;
        const journal = open();
        let expected: number[] = [];
        const writes: Promise<void>[] = [];
        for (const one of steps) {
          if (one.kind === 'append') {
            expected.push(one.n);
            writes.push(journal.append({ n: one.n }));
          } else if (one.kind === 'rewrite') {
            expected = [...one.ns];
            writes.push(journal.rewrite(one.ns.map((n) => ({ n }))));
          } else if (one.kind === 'wait') await Promise.all(writes);
          else await journal.release();
        }
        await Promise.all(writes);
        await journal.release();
        const { records, damaged } = await journal.read();
        expect(damaged).to.equal(0);
        expect(records.map(({ n }) => n)).to.deep.equal(expected);
      }),
      { numRuns: 15 },
    );
  });

  it('says that it cannot save, without a path, and goes on when it can', async () => {
    const { folder, path, open } = given();
    using _ = folder;
    const journal = open();
    mkdirSync(path);
    const error = await failure('CINNABAR_STORAGE_WRITE', () => journal.append({ n: 1 }));
    expect(sentenceOf(error)).to.equal('I cannot save anything at the moment.');
    expect(error.params.detail).to.include('EISDIR');
    rmSync(path, { recursive: true });
    await journal.append({ n: 2 });
    await journal.release();
    expect((await journal.read()).records).to.deep.equal([{ n: 2 }]);
  });

  it('with a snapshot makes good with the next write what one that failed has left out', async () => {
    const { folder, path } = given();
    using _ = folder;
    const kept: { n: number }[] = [];
    const journal = openJournal(path, schema, { snapshot: () => kept });
    const append = (n: number) => {
      kept.push({ n });
      return journal.append({ n });
    };
    await append(1);
    await journal.release();
    rmSync(path);
    mkdirSync(path);
    await failure('CINNABAR_STORAGE_WRITE', () => append(2));
    rmSync(path, { recursive: true });
    await append(3);
    await journal.release();
    expect((await journal.read()).records).to.deep.equal([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('writes to the file of its name, although that was taken away meanwhile', async () => {
    const { folder, path, open, text } = given();
    using _ = folder;
    const journal = open();
    await journal.append({ n: 1 });
    rmSync(path);
    await journal.append({ n: 2 });
    expect(text()).to.equal(lines(2));
    await journal.release();
  });

  it('clears what a process that died left of writing it anew', async () => {
    const { folder, path, open } = given(lines(1));
    using _ = folder;
    writeFileSync(`${path}.new`, '{"n"');
    const journal = open();
    await journal.append({ n: 2 });
    await journal.release();
    expect(readdirSync(folder.path)).to.deep.equal(['journal.jsonl']);
  });
});
