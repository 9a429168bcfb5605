import { createDiskWatch, watchedDriver } from '@cinnabar/core/internal/storage/driver';
import { createMemoryDriver } from '@cinnabar/core/testing';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { recordingLogger } from '../../support/logs.js';

/** A disk on which writes fail with the code that `fails` returns for the document's name. */
function openDisk(fails: (name: string) => string | undefined) {
  const alerts: string[] = [];
  const watch = createDiskWatch({
    clock: createManualClock(),
    log: recordingLogger(),
    alert: ({ text }) => void alerts.push(typeof text === 'string' ? text : text()),
  });
  const memory = createMemoryDriver();
  const driver = watchedDriver(
    {
      ...memory,
      async write(path, stored) {
        const code = fails(path.join('/'));
        if (code !== undefined) throw Object.assign(new Error(code), { code, path: '/data' });
        await memory.write(path, stored);
      },
    },
    watch,
  );
  return { alerts, watch, save: (name: string) => driver.write([name], { version: 1, data: {} }), driver };
}

describe('the watch over the disk', () => {
  it('does not take a removal, which needs no room, for the end of a full disk', async () => {
    let code: string | undefined = 'ENOSPC';
    const { alerts, watch, save, driver } = openDisk(() => code);
    for (let round = 0; round < 3; round += 1) {
      await failure('CINNABAR_STORAGE_WRITE', () => save('a'));
      await driver.delete(['b']);
    }
    expect(watch.condition()).to.have.property('code', 'ENOSPC');
    expect(alerts).to.deep.equal(['I could not save anything: the disk is full (ENOSPC, a).']);
    code = undefined;
    await save('a');
    expect(watch.condition()).to.equal(undefined);
    expect(alerts.at(-1)).to.equal('I could save data again.');
  });

  it('names the one file that cannot be written while others can, once', async () => {
    let isBlocked = true;
    const { alerts, watch, save } = openDisk((name) => (isBlocked && name === 'a' ? 'EISDIR' : undefined));
    for (let round = 0; round < 3; round += 1) {
      await failure('CINNABAR_STORAGE_WRITE', () => save('a'));
      await save('b');
    }
    expect(watch.condition()).to.equal(undefined);
    expect(alerts).to.deep.equal(['I could not save a: a folder is in the place of a file (EISDIR).']);
    isBlocked = false;
    await save('a');
    isBlocked = true;
    await failure('CINNABAR_STORAGE_WRITE', () => save('a'));
    expect(alerts).to.have.length(2);
  });
});
