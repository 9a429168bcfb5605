import { DamagedDocument, type DocumentPath, type Driver } from '@cinnabar/core';
import { createJournal, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import * as fc from 'fast-check';

/** A driver under test, and external changes of its data. */
export interface Subject extends AsyncDisposable {
  readonly driver: Driver;
  /** Replaces the stored content of a document and, if requested, of its last good copy. */
  damage(path: DocumentPath, text: string, options?: { readonly lastGood?: boolean }): Promise<void>;
}

const PATH: DocumentPath = ['party', 'collections', 'user', 'rosters', '42'];
const one = { version: 1, data: { count: 1 } };
const two = { version: 2, data: { count: 2, names: ['V', 'Solo'] } };

const segment = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((text) => !/\p{Surrogate}/u.test(text));

/** The requirements of every driver. */
export function describeDriver(name: string, make: () => Promise<Subject>): void {
  describe(`the ${name} driver`, () => {
    it('reads nothing where nothing was written', async () => {
      await using subject = await make();
      expect(await subject.driver.read(PATH)).to.equal(undefined);
    });

    it('reads what was written last', async () => {
      await using subject = await make();
      await subject.driver.write(PATH, one);
      await subject.driver.write(PATH, two);
      expect(await subject.driver.read(PATH)).to.deep.equal(two);
    });

    it('keeps a copy of its own of what is written and read', async () => {
      await using subject = await make();
      const data = { names: ['V'] };
      await subject.driver.write(PATH, { version: 1, data });
      data.names.push('Judy');
      expect(await subject.driver.read(PATH)).to.deep.equal({ version: 1, data: { names: ['V'] } });
    });

    it('refuses what is not JSON and keeps the old document', async () => {
      await using subject = await make();
      await subject.driver.write(PATH, one);
      const circular: { self?: unknown } = {};
      circular.self = circular;
      const failed = await subject.driver.write(PATH, { version: 1, data: circular }).then(
        () => false,
        () => true,
      );
      expect(failed).to.equal(true);
      expect(await subject.driver.read(PATH)).to.deep.equal(one);
    });

    it('deletes a document, also one that is not there', async () => {
      await using subject = await make();
      await subject.driver.write(PATH, one);
      await subject.driver.delete(PATH);
      await subject.driver.delete(PATH);
      expect(await subject.driver.read(PATH)).to.equal(undefined);
    });

    it('lists what is below a prefix and nothing else', async () => {
      await using subject = await make();
      const other: DocumentPath = ['party', 'collections', 'user', 'rosters2', '42'];
      await subject.driver.write(PATH, one);
      await subject.driver.write(other, one);
      expect(await subject.driver.list(PATH.slice(0, -1))).to.deep.equal([PATH]);
      expect(await subject.driver.list(['party'])).to.have.deep.members([PATH, other]);
      expect(await subject.driver.list(['nobody'])).to.deep.equal([]);
    });

    it('says that a document is damaged instead of inventing one', async () => {
      await using subject = await make();
      for (const text of [
        '',
        '{',
        'null',
        '[]',
        '{"version":1}',
        '{"version":0,"data":{}}',
        '{"version":"1","data":{}}',
      ]) {
        await subject.driver.write(PATH, one);
        await subject.damage(PATH, text);
        const error: unknown = await subject.driver.read(PATH).catch((reason: unknown) => reason);
        expect(error, JSON.stringify(text)).to.be.instanceOf(DamagedDocument);
      }
    });

    it('falls back on the last good copy when a damaged document is put aside', async () => {
      await using subject = await make();
      await subject.driver.write(PATH, two);
      await subject.damage(PATH, '{"versi');
      expect(await subject.driver.setAside(PATH)).to.be.a('string');
      expect(await subject.driver.read(PATH)).to.deep.equal(two);
    });

    it('ends with no document when the last good copy is the same or as bad', async () => {
      await using subject = await make();
      await subject.driver.write(PATH, one);
      await subject.driver.setAside(PATH);
      expect(await subject.driver.read(PATH), 'the same').to.equal(undefined);

      await subject.driver.write(PATH, one);
      await subject.damage(PATH, 'bad', { lastGood: true });
      await subject.driver.setAside(PATH);
      expect(await subject.driver.read(PATH), 'as bad').to.equal(undefined);
    });

    it('puts aside under a new name each time, and deletes none of it', async () => {
      await using subject = await make();
      const places: (string | undefined)[] = [];
      for (let round = 0; round < 3; round += 1) {
        await subject.driver.write(PATH, one);
        await subject.damage(PATH, `bad ${round}`);
        places.push(await subject.driver.setAside(PATH));
      }
      await subject.driver.delete(PATH);
      expect(new Set(places).size).to.equal(3);
      expect(await subject.driver.list(PATH.slice(0, -1)), 'still listed for its copies').to.deep.equal([PATH]);
    });

    it('keeps a copy under a label and leaves the document', async () => {
      await using subject = await make();
      await subject.driver.write(PATH, one);
      expect(await subject.driver.keep(PATH, 'v1')).to.contain('v1');
      expect(await subject.driver.read(PATH)).to.deep.equal(one);
    });

    it('erases a document with every copy, and no other', async () => {
      await using subject = await make();
      const neighbour = [...PATH.slice(0, -1), '420'];
      await subject.driver.write(neighbour, two);
      await subject.driver.write(PATH, one);
      await subject.driver.keep(PATH, 'v1');
      await subject.damage(PATH, 'bad');
      await subject.driver.setAside(PATH);
      await subject.driver.erase(PATH);
      expect(await subject.driver.read(PATH)).to.equal(undefined);
      expect(await subject.driver.list([])).to.deep.equal([neighbour]);
    });

    describe('journal', () => {
      const JOURNAL: DocumentPath = ['relay', 'queue', 'queue'];
      const schema = z.object({ n: z.number() });
      const numbers = async (driver: Driver, path = JOURNAL) => {
        const { records, damaged, torn } = await createJournal(driver.journal(path), schema).read();
        return { ns: records.map(({ n }) => n), damaged, torn };
      };

      it('holds nothing before the first record, and then all of them in order, for the next process too', async () => {
        await using subject = await make();
        const journal = createJournal(subject.driver.journal(JOURNAL), schema);
        expect(await journal.read()).to.deep.equal({ records: [], damaged: 0, torn: false });
        await Promise.all([1, 2, 3].map((n) => journal.append({ n })));
        await journal.append({ n: 4 });
        expect(journal.size).to.equal('{"n":1}\n'.length * 4);
        await journal.release();
        expect(await numbers(subject.driver)).to.deep.equal({ ns: [1, 2, 3, 4], damaged: 0, torn: false });
      });

      it('is written anew in one step, in order with what is appended', async () => {
        await using subject = await make();
        const journal = createJournal(subject.driver.journal(JOURNAL), schema);
        await Promise.all([journal.append({ n: 1 }), journal.rewrite([{ n: 2 }, { n: 3 }]), journal.append({ n: 4 })]);
        await journal.release();
        await journal.append({ n: 5 });
        await journal.release();
        expect(await numbers(subject.driver)).to.deep.equal({ ns: [2, 3, 4, 5], damaged: 0, torn: false });
      });

      it('tells a last line that was cut off from damage, and begins a new line after it', async () => {
        await using subject = await make();
        const medium = subject.driver.journal(JOURNAL);
        await medium.add('{"n":1}\n{"n":');
        await medium.release();
        expect(await numbers(subject.driver)).to.deep.equal({ ns: [1], damaged: 1, torn: true });
        const journal = createJournal(subject.driver.journal(JOURNAL), schema);
        await journal.append({ n: 2 });
        await journal.release();
        expect(await numbers(subject.driver)).to.deep.equal({ ns: [1, 2], damaged: 1, torn: false });
      });

      it('is apart from other journals and from documents of the same path', async () => {
        await using subject = await make();
        const other = ['relay', 'queue', 'other'];
        const [journal, second] = [JOURNAL, other].map((path) => createJournal(subject.driver.journal(path), schema));
        await subject.driver.write(JOURNAL, one);
        await journal?.append({ n: 1 });
        await second?.append({ n: 2 });
        await Promise.all([journal?.release(), second?.release()]);
        expect((await numbers(subject.driver)).ns).to.deep.equal([1]);
        expect((await numbers(subject.driver, other)).ns).to.deep.equal([2]);
        expect(await subject.driver.read(JOURNAL)).to.deep.equal(one);
        expect(await subject.driver.list(['relay'])).to.deep.equal([JOURNAL]);
      });

      it('is listed once it holds something', async () => {
        await using subject = await make();
        const paths: readonly DocumentPath[] = [
          JOURNAL,
          ['tasks', 'tasks', '42'],
          ['tools', '1', '42', '2026-01-01-00'],
          ['@host', 'subjects', 's1'],
        ];
        const listed = async (below?: DocumentPath) => (await subject.driver.journals(below)).map(({ path }) => path);
        expect(await listed()).to.deep.equal([]);
        await subject.driver.write(PATH, one);
        for (const path of paths) {
          const journal = createJournal(subject.driver.journal(path), schema);
          await journal.append({ n: 1 });
          await journal.release();
        }
        expect(await listed()).to.have.deep.members(paths);
        expect(await listed(['tools', '1'])).to.deep.equal(paths.slice(2, 3));
        expect(await listed(['nothing'])).to.deep.equal([]);
        expect((await subject.driver.journals()).every(({ bytes, isOwn }) => bytes > 0 && isOwn)).to.equal(true);
      });

      it('is erased with its copies, or those of its copies that hold something', async () => {
        await using subject = await make();
        const other: DocumentPath = ['relay', 'queue', 'queue2'];
        const [journal, second] = [JOURNAL, other].map((path) => createJournal(subject.driver.journal(path), schema));
        expect(await journal?.keepCopy('corrupt-0')).to.equal(undefined);
        await journal?.append({ n: 1 });
        await second?.append({ n: 1 });
        expect(await journal?.keepCopy('corrupt-1')).to.match(/queue.*corrupt-1/);
        await second?.keepCopy('corrupt-1');
        await journal?.rewrite([{ n: 2 }]);
        await journal?.eraseCopies((text) => text.includes('"n":3'));
        const copies: string[] = [];
        const seen = (text: string) => copies.push(text.trim()) === 0;
        await journal?.eraseCopies(seen);
        expect(copies).to.deep.equal(['{"n":1}']);
        await journal?.eraseCopies((text) => text.includes('"n":1'));
        await journal?.eraseCopies(seen);
        expect(copies).to.have.length(1);
        await journal?.keepCopy('corrupt-2');
        await journal?.erase();
        await journal?.eraseCopies(seen);
        expect(copies).to.have.length(1);
        expect((await numbers(subject.driver)).ns).to.deep.equal([]);
        await journal?.append({ n: 4 });
        await second?.eraseCopies(seen);
        expect(copies).to.have.length(2);
        await Promise.all([journal?.release(), second?.release()]);
        expect((await numbers(subject.driver)).ns).to.deep.equal([4]);
        expect((await numbers(subject.driver, other)).ns).to.deep.equal([1]);
      });

      it('goes with all others of its plugin, and none of another one', async () => {
        await using subject = await make();
        const paths: readonly DocumentPath[] = [JOURNAL, ['relay', 'sent', '42'], ['relay2', 'queue', 'queue']];
        for (const path of paths) {
          const journal = createJournal(subject.driver.journal(path), schema);
          await journal.append({ n: 1 });
          await journal.release();
        }
        await subject.driver.write(JOURNAL, one);
        await subject.driver.eraseJournals('relay');
        await subject.driver.eraseJournals('never-seen');
        const left = await Promise.all(paths.map(async (path) => (await numbers(subject.driver, path)).ns));
        expect(left).to.deep.equal([[], [], [1]]);
        expect(await subject.driver.read(JOURNAL)).to.deep.equal(one);
      });
    });

    it('takes any text as a segment and gives it back', async () => {
      await using subject = await make();
      await fc.assert(
        fc.asyncProperty(fc.array(segment, { minLength: 1, maxLength: 3 }), async (tail) => {
          const path = ['party', 'collections', ...tail];
          await subject.driver.write(path, one);
          const found = await subject.driver.read(path);
          const listed = await subject.driver.list(['party', 'collections']);
          await subject.driver.erase(path);
          expect(found).to.deep.equal(one);
          expect(listed).to.deep.include(path);
        }),
        { numRuns: 30 },
      );
    });
  });
}
