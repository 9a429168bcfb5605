import { expect } from 'chai';
import { afterPowerCut } from './powercut/disk.js';
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

/** What a hundred power cuts leave of the file. */
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

describe('a sample of the campaign of power cuts', () => {
  it('finds nothing missing that was told', async function () {
    // It starts a bot in a process of its own three times.
    this.timeout(120_000);
    const { counts, violations } = await powercutCampaign({ seed: 1, rounds: 1, log: () => undefined });
    expect(violations).to.deep.equal([]);
    expect(counts['power cuts']).to.equal(1);
    expect(counts['things told']).to.be.above(3);
  });
});
