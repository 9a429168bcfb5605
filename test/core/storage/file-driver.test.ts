import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createFileDriver, type DocumentPath } from '@cinnabar/core';
import { createJournal, z } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { withoutFolderSync } from '../../support/file-syncs.js';
import { recordingLogger } from '../../support/logs.js';
import { describeDriver } from './driver-contract.js';
import { temporaryFolder } from './fixture.js';

const PATH: DocumentPath = ['party', 'collections', 'user', 'rosters', '42'];
const one = { version: 1, data: { count: 1 } };

function confSubject() {
  const folder = temporaryFolder();
  const log = recordingLogger();
  const driver = createFileDriver({
    root: folder.path,
    journals: `${folder.path}-journals`,
    clock: createManualClock(),
    log,
  });
  const fileOf = async (path: DocumentPath) => {
    const names = await readdir(folder.path, { recursive: true });
    const name = names.find((one) => one.endsWith(`/${path.at(-1)}.json`));
    return join(folder.path, name ?? 'missing');
  };
  return { folder, log, driver, fileOf };
}

describeDriver('conf', async () => {
  const { folder, driver, fileOf } = confSubject();
  return {
    driver,
    async damage(path, text, options) {
      const file = await fileOf(path);
      await writeFile(file, text);
      if (options?.lastGood === true) await writeFile(file.replace(/json$/, 'last-good'), text);
    },
    async [Symbol.asyncDispose]() {
      await driver.close();
      folder[Symbol.dispose]();
      await rm(`${folder.path}-journals`, { recursive: true, force: true });
    },
  };
});

describe('the files of the conf driver', () => {
  it('are one per document, readable only by the user of the process, with a copy beside them', async () => {
    const { folder, driver } = confSubject();
    using _ = folder;
    await driver.write(PATH, one);
    const place = join(folder.path, 'party/collections/user/rosters');
    expect(await readdir(place)).to.have.members(['42.json', '42.last-good']);
    expect(JSON.parse(await readFile(join(place, '42.json'), 'utf8'))).to.deep.equal(one);
    for (const name of ['42.json', '42.last-good']) {
      expect((await stat(join(place, name))).mode & 0o777, name).to.equal(0o600);
    }
  });

  it('stay inside the folder and apart from one another, whatever the key', async () => {
    const { folder, driver } = confSubject();
    using _ = folder;
    const keys = [
      '../../escape',
      '/etc/passwd',
      '.',
      '..',
      'A',
      'a',
      'con',
      '\u00e9',
      'e\u0301',
      'x'.repeat(500),
      'a.json',
      '__proto__',
    ];
    for (const [count, key] of keys.entries()) await driver.write(['p', key], { version: 1, data: { count } });
    const files = (await readdir(folder.path, { recursive: true })).filter((name) => name.endsWith('.json'));
    expect(files).to.have.length(keys.length);
    expect(new Set(files.map((name) => name.toLowerCase().normalize())).size).to.equal(keys.length);
    expect(files.flatMap((name) => name.split('/')).every((piece) => piece.length <= 110)).to.equal(true);
    for (const [count, key] of keys.entries()) {
      expect((await driver.read(['p', key]))?.data, JSON.stringify(key)).to.deep.equal({ count });
    }
  });

  it('are recovered when only the last good copy is left', async () => {
    const { folder, driver, fileOf } = confSubject();
    using _ = folder;
    await driver.write(PATH, one);
    await rm(await fileOf(PATH));
    const error: unknown = await driver.read(PATH).catch((reason: unknown) => reason);
    expect(String(error)).to.contain('missing');
    expect(await driver.setAside(PATH), 'nothing was there to move').to.equal(undefined);
    expect(await driver.read(PATH)).to.deep.equal(one);
  });

  it('are damaged when they are not UTF-8, even inside a string', async () => {
    const { folder, driver, fileOf } = confSubject();
    using _ = folder;
    await driver.write(PATH, { version: 1, data: { name: 'V' } });
    const bytes = await readFile(await fileOf(PATH));
    bytes[bytes.indexOf('V')] = 0xff;
    await writeFile(await fileOf(PATH), bytes);
    const error: unknown = await driver.read(PATH).catch((reason: unknown) => reason);
    expect(String(error)).to.contain('UTF-8');
  });

  it('replace a damaged file when the document is written', async () => {
    const { folder, driver, fileOf } = confSubject();
    using _ = folder;
    await driver.write(PATH, one);
    await writeFile(await fileOf(PATH), '{"ver');
    await driver.write(PATH, { version: 1, data: { count: 2 } });
    expect((await driver.read(PATH))?.data).to.deep.equal({ count: 2 });
  });

  it('of killed writes and of others are passed over, and the former removed', async () => {
    const { folder, driver, fileOf } = confSubject();
    using _ = folder;
    await driver.write(PATH, one);
    const place = dirname(await fileOf(PATH));
    await writeFile(join(place, '42.json.tmp-1234567890abcdef'), '{"ver');
    await writeFile(join(place, '42.last-good.new'), '{"ver');
    await writeFile(join(place, 'README'), 'not ours');
    await writeFile(join(place, 'Not Ours.json'), '{}');
    await mkdir(join(place, 'Some Folder'));
    expect(await driver.list([])).to.deep.equal([PATH]);
    expect(await readdir(place)).to.have.members(['42.json', '42.last-good', 'README', 'Not Ours.json', 'Some Folder']);
  });

  it('are as they were when their folder cannot be synced, with nothing unfinished beside them', async () => {
    const { folder, driver, fileOf } = confSubject();
    using _ = folder;
    await driver.write(PATH, one);
    const place = dirname(await fileOf(PATH));
    const beside = [...PATH.slice(0, -1), '43'];
    const lost = Object.assign(new Error('i/o error'), { code: 'EIO' });
    {
      using _broken = await withoutFolderSync(lost);
      for (const path of [PATH, beside]) {
        const error: unknown = await driver
          .write(path, { version: 1, data: { count: 2 } })
          .catch((one: unknown) => one);
        expect(error).to.equal(lost);
      }
    }
    expect(await driver.read(PATH)).to.deep.equal(one);
    expect(await driver.read(beside)).to.equal(undefined);
    expect(await readdir(place)).to.have.members(['42.json', '42.last-good']);
    await driver.write(PATH, { version: 1, data: { count: 3 } });
    expect(JSON.parse(await readFile(join(place, '42.last-good'), 'utf8'))).to.deep.equal(await driver.read(PATH));
  });

  it('are saved even when the copy beside them cannot be', async () => {
    const { folder, driver, fileOf, log } = confSubject();
    using _ = folder;
    await driver.write(PATH, one);
    const copy = (await fileOf(PATH)).replace(/json$/, 'last-good');
    await rm(copy);
    await mkdir(copy);
    await driver.write(PATH, { version: 1, data: { count: 2 } });
    expect((await driver.read(PATH))?.data).to.deep.equal({ count: 2 });
    expect(log.entries.map(({ level }) => level)).to.deep.equal(['warn']);
  });

  it('do not bring signal handlers that would end the host in the middle of its clean stop', async () => {
    const { folder, driver } = confSubject();
    using _ = folder;
    await driver.write(PATH, one);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      // The listeners of conf's library; the test runner has others.
      const own = process.listeners(signal).filter((listener) => String(listener).includes('this.exit('));
      expect(own, signal).to.deep.equal([]);
    }
  });

  it('that cannot be read for another reason are not taken for missing or damaged', async () => {
    const { folder, driver } = confSubject();
    using _ = folder;
    await mkdir(join(folder.path, 'p', 'key.json'), { recursive: true });
    const error: unknown = await driver.read(['p', 'key']).catch((reason: unknown) => reason);
    expect(String(error)).to.contain('EISDIR');
  });
});

describe('the journals of the file driver', () => {
  it('are the files of the version before: below the data, beside the documents', async () => {
    using folder = temporaryFolder();
    await mkdir(join(folder.path, 'relay', 'queue'), { recursive: true });
    const file = join(folder.path, 'relay', 'queue', 'queue.jsonl');
    await writeFile(file, '{"n":1}\n{"n":2}\n{"n":');
    const driver = createFileDriver({
      root: join(folder.path, 'documents'),
      journals: folder.path,
      clock: createManualClock(),
      log: recordingLogger(),
    });
    const journal = createJournal(driver.journal(['relay', 'queue', 'queue']), z.object({ n: z.number() }));
    expect(await journal.read()).to.deep.equal({ records: [{ n: 1 }, { n: 2 }], damaged: 1, torn: true });
    await journal.append({ n: 3 });
    await journal.release();
    expect(await readFile(file, 'utf8')).to.equal('{"n":1}\n{"n":2}\n{"n":\n{"n":3}\n');
  });
});
