import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileDriver, type Driver } from '@cinnabar/core';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { anyCharacter } from '../../support/any-character.js';
import { type Folder, makeFolder } from '../../support/folder.js';
import { recordingLogger } from '../../support/logs.js';

/** Among all characters of Unicode, those that file systems treat in special ways would hardly ever come. */
const asciiCharacter = fc.nat({ max: 0x7f }).map((code) => String.fromCodePoint(code));
const text = fc
  .string({ unit: fc.oneof(anyCharacter, asciiCharacter), minLength: 1, maxLength: 200 })
  .filter((one) => !/\p{Surrogate}/u.test(one));
const texts = fc.uniqueArray(text, { minLength: 20, maxLength: 20 });
const RUNS = { numRuns: 10 };

function driverIn({ path }: Folder): Driver {
  return createFileDriver({ root: path, journals: path, clock: createManualClock(), log: recordingLogger() });
}

const keep = (driver: Driver, segments: readonly string[]) =>
  Promise.all(segments.map((segment) => driver.write([segment], { version: 1, data: { segment } })));

/** The names of the files and folders below a folder, from the top to each document. */
const filesIn = ({ path }: Folder): readonly (readonly string[])[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) =>
      join(entry.parentPath, entry.name.slice(0, -'.json'.length))
        .slice(path.length + 1)
        .split('/'),
    );

describe('file names of documents', () => {
  it('give the path of the document back, and another file for each', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (segments) => {
        using folder = makeFolder();
        const driver = driverIn(folder);
        await keep(driver, segments);
        const listed = (await driverIn(folder).list([])).map(([segment = '']) => segment);
        expect(listed.sort()).to.deep.equal([...segments].sort());
        for (const segment of segments) expect((await driver.read([segment]))?.data).to.deep.equal({ segment });
      }),
      RUNS,
    );
  });

  it('hold nothing but lower case letters, digits, hyphen, underscore and percent, in pieces that any file system takes', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (segments) => {
        using folder = makeFolder();
        await keep(driverIn(folder), [...segments, 'con', 'lpt1']);
        const files = filesIn(folder);
        expect(files).to.have.length(segments.length + 2);
        for (const pieces of files) {
          for (const [index, piece] of pieces.entries()) {
            expect(piece).to.match(index < pieces.length - 1 ? /^[a-z0-9_%-]+\+$/ : /^[a-z0-9_%-]+$/);
            expect(piece.length).to.be.at.most(103);
            expect(piece).to.not.match(/^(con|prn|aux|nul|com\d|lpt\d)$/);
          }
        }
      }),
      RUNS,
    );
  });

  it('of others are not those of documents', async () => {
    using folder = makeFolder();
    const driver = driverIn(folder);
    await keep(driver, ['mine']);
    for (const name of ['A', 'a b', '%', '%4', '%zz', '%61', '%ff', '%41%', 'é', 'con', 'x'.repeat(104)])
      writeFileSync(join(folder.path, `${name}.json`), '{"version":1,"data":{}}');
    mkdirSync(join(folder.path, 'short+'));
    writeFileSync(join(folder.path, 'short+', 'a.json'), '{"version":1,"data":{}}');
    expect(await driver.list([])).to.deep.equal([['mine']]);
  });
});
