import { expect } from 'chai';
import { afterPowerCut } from './powercut/disk.js';
import { createLetters } from './powercut/letters.js';
import type { DiskOperation } from './powercut/operations.js';
import { powercutCampaign } from './powercut.js';
import { createChance } from './settings/chance.js';

const root = '/disk';
const path = '/disk/data/settings.json';
const text = (words: string) => Buffer.from(words).toString('base64');
const written: readonly DiskOperation[] = [
  { op: 'mkdir', path: '/disk/data' },
  { op: 'create', path: `${path}.new`, file: 'new:1' },
  { op: 'write', file: 'new:1', at: 0, base64: text('set') },
  { op: 'sync', file: 'new:1', upTo: 3 },
  { op: 'rename', from: `${path}.new`, to: path },
];

/** The contents of the file after a hundred power cuts. */
function remains(operations: readonly DiskOperation[]): ReadonlySet<string | undefined> {
  const before = { files: new Map<string, Buffer>(), folders: new Set([root]) };
  return new Set(
    Array.from({ length: 100 }, (_, seed) =>
      afterPowerCut(root, before, operations, createChance(seed)).image.files.get(path)?.toString(),
    ),
  );
}

describe('a disk whose power is cut', () => {
  it('keeps what was synced: the content, the name, and the folder in the one above', () => {
    const all: readonly DiskOperation[] = [
      ...written,
      { op: 'syncFolder', path: '/disk/data', upTo: 5 },
      { op: 'syncFolder', path: root, upTo: 6 },
    ];
    expect([...remains(all)]).to.deep.equal(['set']);
  });

  it('may lose a file whose folder was not synced, and a folder that was not synced in the one above', () => {
    expect([...remains([...written, { op: 'syncFolder', path: root, upTo: 5 }])]).to.have.members(['set', undefined]);
    expect([...remains([...written, { op: 'syncFolder', path: '/disk/data', upTo: 5 }])]).to.have.members([
      'set',
      undefined,
    ]);
  });

  it('may leave a part of what was written without a sync, or nothing but its length', () => {
    const unsynced = written.filter(({ op }) => op !== 'sync');
    const left = remains([
      ...unsynced,
      { op: 'syncFolder', path: '/disk/data', upTo: 4 },
      { op: 'syncFolder', path: root, upTo: 5 },
    ]);
    expect([...left]).to.include.members(['set', '', 's', '\0\0\0']);
  });
});

describe('the expected number of waiting letters', () => {
  /** Five letters, of which two had not arrived when the queue was cleared, and five more. */
  const clearedInBetween = (answer: string) => {
    const letters = createLetters();
    for (let n = 0; n < 5; n += 1) letters.said();
    letters.counted(3);
    letters.clearing();
    letters.cleared(answer);
    for (let n = 0; n < 5; n += 1) letters.said();
    return letters;
  };

  it('includes letters that arrived after the queue was cleared, but no dropped ones', () => {
    expect(clearedInBetween('3 messages that were waiting are dropped.').check(7)).to.deep.equal([]);
    expect(clearedInBetween('3 messages that were waiting are dropped.').check(8)).to.deep.equal([
      '8 letters wait, but should 0 to 7',
    ]);
    expect(clearedInBetween('1 message that was waiting is dropped.').check(9)).to.deep.equal([]);
    expect(clearedInBetween('Nothing was waiting.').check(10)).to.deep.equal([]);
  });

  it('includes every letter that the bot has reported', () => {
    const letters = clearedInBetween('3 messages that were waiting are dropped.');
    letters.counted(6);
    expect(letters.check(5)).to.deep.equal(['5 letters wait, but should 6 to 7']);
    expect(letters.check(5)).to.deep.equal([]);
  });

  it('refuses an answer with more dropped letters than were sent, and an unexpected answer', () => {
    expect(() => clearedInBetween('6 messages that were waiting are dropped.')).to.throw('at most 5 letters');
    expect(() => clearedInBetween('I cannot save anything at the moment.')).to.throw('I cannot save');
  });
});

describe('a sample of the campaign of power cuts', () => {
  it('finds every confirmed change after the power cuts', async function () {
    // It starts a bot in a separate process three times.
    this.timeout(120_000);
    const { counts, violations } = await powercutCampaign({ seed: 1, rounds: 1, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts['power cuts']).to.equal(1);
    expect(counts['things told']).to.be.above(3);
  });
});
