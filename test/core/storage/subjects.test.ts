import { createSubjectIndex, type SubjectIndex } from '@cinnabar/core/internal/storage/subjects';
import { createMemoryDriver } from '@cinnabar/core/testing';
import { expect } from 'chai';
import fc from 'fast-check';

const TREES = ['visits', 'receipts'].map((name) => ['party', 'collections', 'channel', name]);

describe('the index of whom documents tell', () => {
  it('finds what was noted of each, after restarts, forgetting and rewriting, and nothing of others', async () => {
    const id = fc.constantFrom('1', '22', '333');
    const step = fc.oneof(
      fc.record({ note: id, tree: fc.nat(1), key: fc.nat(3) }),
      fc.record({ forget: id }),
      fc.constant({ restart: true } as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const driver = createMemoryDriver();
        let index = createSubjectIndex(driver);
        const expected = new Map<string, Set<string>>();
        for (const one of steps) {
          if ('restart' in one) index = createSubjectIndex(driver);
          else if ('forget' in one) {
            await index.forget(one.forget);
            expected.delete(one.forget);
          } else {
            const path = [...(TREES[one.tree] ?? []), `k${one.key}`];
            await index.note(path, [one.note]);
            expected.set(one.note, (expected.get(one.note) ?? new Set()).add(JSON.stringify(path)));
          }
        }
        for (const of of ['1', '22', '333'])
          expect((await index.find(of)).map((path) => JSON.stringify(path)).sort()).to.deep.equal(
            [...(expected.get(of) ?? [])].sort(),
          );
      }),
      { numRuns: 100 },
    );
  });

  it('notes what was written before it once, however often it is asked for at the same time', async () => {
    const driver = createMemoryDriver();
    const index = createSubjectIndex(driver);
    let scans = 0;
    const scan = async function* () {
      scans += 1;
      yield [
        [...(TREES[0] ?? []), 'old'],
        ['1', '2'],
      ] as const;
    };
    await Promise.all([index.complete('party', scan), index.complete('party', scan)]);
    await createSubjectIndex(driver).complete('party', scan);
    expect(scans).to.equal(1);
    expect(await index.keysBelow('2', TREES[0] ?? [])).to.deep.equal(['old']);
  });

  it('begins again where a scan was cut off', async () => {
    const driver = createMemoryDriver();
    const index = createSubjectIndex(driver);
    const cutOff = async function* () {
      yield [[...(TREES[0] ?? []), 'old'], ['1']] as const;
      throw new Error('the disk is gone');
    };
    const thrown: unknown = await index.complete('party', cutOff).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(Error);
    let scans = 0;
    await index.complete('party', async function* () {
      scans += 1;
      yield* [];
    });
    expect(scans).to.equal(1);
  });

  it('does not grow for ever: what is gone is left out when it is read', async () => {
    const driver = createMemoryDriver();
    const [tree = []] = TREES;
    const noteCalls = async (index: SubjectIndex) => {
      await Promise.all(Array.from({ length: 2_500 }, (_, n) => index.note([...tree, String(n)], ['1'])));
    };
    await noteCalls(createSubjectIndex(driver));
    await driver.write([...tree, '7'], { version: 1, data: {} });
    expect(await createSubjectIndex(driver).keysBelow('1', tree)).to.deep.equal(['7']);
    const sizes = (await driver.journals(['@host', 'subjects'])).map(({ bytes }) => bytes);
    expect(Math.max(...sizes)).to.be.below(1_000);
  });

  it('keeps no journal open that nothing is written to', async () => {
    const driver = createMemoryDriver();
    const open = new Set<object>();
    const watched: Pick<typeof driver, 'journal' | 'list'> = {
      list: driver.list,
      journal(path) {
        const journal = driver.journal(path);
        return {
          ...journal,
          async add(text) {
            open.add(journal);
            // Like a disk, it combines the writes that arrive meanwhile.
            await new Promise(setImmediate);
            await journal.add(text);
          },
          async release() {
            await journal.release();
            open.delete(journal);
          },
        };
      },
    };
    const index = createSubjectIndex(watched);
    const path = [...(TREES[0] ?? []), 'k'];
    await Promise.all(Array.from({ length: 5 }, () => index.note(path, ['1', '2'])));
    expect(open.size).to.equal(0);
  });
});
