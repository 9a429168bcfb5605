import { createMemoryDriver } from '@cinnabar/core/testing';
import { createJournal, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { describeDriver } from './driver-contract.js';

describeDriver('memory', async () => {
  const driver = createMemoryDriver();
  return {
    driver,
    damage: async (path, text, options) => driver.damage(path, text, options),
    [Symbol.asyncDispose]: () => driver.close(),
  };
});

describe('failing writes of the memory driver', () => {
  it('fails as often as it was told, then writes again', async () => {
    const driver = createMemoryDriver();
    driver.failWrites(new Error('no room'), 2);
    const attempts = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      attempts.push(await driver.write(['a'], { version: 1, data: attempt }).then(() => 'written', String));
    }
    expect(attempts).to.deep.equal(['Error: no room', 'Error: no room', 'written']);
  });

  it('fails those of a journal: the record is not there, and the next write brings what is in the snapshot', async () => {
    const driver = createMemoryDriver();
    const path = ['relay', 'queue', 'queue'];
    const kept = [{ n: 1 }, { n: 2 }];
    const schema = z.object({ n: z.number() });
    const journal = createJournal(driver.journal(path), schema, { snapshot: () => kept });
    driver.failWrites(new Error('no room'), 1, path);
    expect(await journal.append({ n: 1 }).catch((error: unknown) => error)).to.have.property(
      'code',
      'CINNABAR_STORAGE_WRITE',
    );
    expect((await journal.read()).records).to.deep.equal([]);
    await journal.append({ n: 2 });
    expect((await journal.read()).records).to.deep.equal(kept);
  });
});
