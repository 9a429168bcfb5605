import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Driver } from '@cinnabar/core';
import { createFileDriver, createPostgresDriver, createSystemClock } from '@cinnabar/core';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';
import { recordingLogger } from '../../support/logs.js';
import { describePostgres, testDatabase } from '../../support/postgres.js';
import { backedUp, filesIn, heldBy, lay, restored } from './world.js';

const log = recordingLogger();
const clock = createSystemClock();

const SETTINGS = ['llm', 'settings', 'global', 'global'];
const MEMORIES = ['persona', '500', 'guild'];

/** A bot with documents and journals in a database, and other data in a folder. */
async function world() {
  const folder = makeFolder();
  const place = await testDatabase();
  const dataDir = join(folder.path, 'data');
  const driver = createPostgresDriver({ ...place, poolSize: 3, use: 'alone', clock, log });
  const filesOf = (data: string) => createFileDriver({ root: join(data, 'documents'), journals: data, clock, log });
  await driver.write(SETTINGS, { version: 1, data: { model: 'm', apiKey: 'hunter2hunter2' } });
  for (let n = 0; n < 70; n += 1)
    await driver.write(['party', 'collections', 'user', 'rosters', `${n} 💜`], { version: 2, data: { z: n, a: null } });
  for (const path of [MEMORIES, ['relay', 'queue', 'queue'], ['tools', '1', '10', '2026-01-01-00']])
    await driver.journal(path).add(`{"of":"${path[0]}"}\n{"n":2}\n`);
  lay(dataDir, {
    'images/one.png': 'kept in a file',
    'documents/party/collections/user/rosters/7.json': '{"version":1,"data":{"from":"an earlier life in files"}}',
    'persona/500/guild.jsonl': '{"from":"an earlier life in files"}\n',
  });
  const file = join(folder.path, 'b.tar.gz');
  return {
    driver,
    dataDir,
    file,
    place,
    filesOf,
    other: join(folder.path, 'other'),
    backUp: (withSecrets = true) => backedUp(dataDir, file, { withSecrets, plugins: [], driver }),
    restore: (to: string, into?: Driver) => restored(file, to, into === undefined ? {} : { driver: into }),
    async [Symbol.asyncDispose]() {
      await driver.close();
      await place[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

describePostgres('a backup of data in PostgreSQL', () => {
  it('contains the database’s data, no earlier files, and leaves no temporary data', async () => {
    await using bot = await world();
    const before = filesIn(bot.dataDir);
    const { files } = await bot.backUp();
    expect(filesIn(bot.dataDir)).to.deep.equal(before);
    const paths = files.map(({ path }) => path);
    expect(paths).to.include('images/one.png').and.include('tools/1/10/2026-01-01-00.jsonl');
    expect(paths.filter((path) => path.startsWith('documents/'))).to.have.length(71);
  });

  it('is brought back into files, as one of files is into the database: the same by count and checksum', async () => {
    await using bot = await world();
    await bot.backUp();
    const held = await heldBy(bot.driver);
    lay(bot.other, { 'documents/x/y.json': '{}' });
    await bot.restore(bot.other);
    const files = bot.filesOf(bot.other);
    expect(await heldBy(files)).to.deep.equal(held);

    await files.write(SETTINGS, { version: 1, data: { model: 'another' } });
    const changed = await heldBy(files);
    const { driver } = bot;
    await backedUp(bot.other, bot.file, { withSecrets: true, driver: files });
    await bot.restore(bot.dataDir, driver);
    expect(await heldBy(driver)).to.deep.equal(changed);
  });

  it('takes the place of everything in the database, which is kept aside with the files', async () => {
    await using bot = await world();
    await bot.backUp();
    const held = await heldBy(bot.driver);
    await bot.driver.write(['party', 'collections', 'user', 'rosters', 'later'], { version: 2, data: {} });
    await bot.driver.journal(MEMORIES).add('{"n":3}\n');
    await bot.driver.setAside(SETTINGS);
    const later = await heldBy(bot.driver);

    const { aside = '' } = await bot.restore(bot.dataDir, bot.driver);
    expect(await heldBy(bot.driver)).to.deep.equal(held);
    expect(await heldBy(bot.filesOf(join(aside, '.database')))).to.deep.equal(later);
    expect(existsSync(join(bot.dataDir, 'documents'))).to.equal(false);
    expect(existsSync(join(bot.dataDir, 'persona/500/guild.jsonl'))).to.equal(false);
    expect(readFileSync(join(bot.dataDir, 'images/one.png'), 'utf8')).to.equal('kept in a file');
  });

  it('leaves secrets out unless they are asked for, and those that are there stay', async () => {
    await using bot = await world();
    const path = ['@host', 'collections', 'global', 'secrets', 'BANK_KEY'];
    const stored = { version: 1, data: { encrypted: 'xyz' } };
    await bot.driver.write(path, stored);
    const { files, leftOut } = await bot.backUp(false);
    expect(leftOut).to.deep.equal(['llm: apiKey']);
    expect(files.filter(({ path: one }) => one.includes('secrets'))).to.deep.equal([]);
    await bot.restore(bot.dataDir, bot.driver);
    expect(await bot.driver.read(SETTINGS)).to.deep.equal({ version: 1, data: { model: 'm' } });
    expect(await bot.driver.read(path)).to.deep.equal(stored);
  });

  it('leaves the database as it is where one has no documents, and names those of one that cannot be read', async () => {
    await using bot = await world();
    const held = await heldBy(bot.driver);
    lay(bot.other, { 'images/two.png': 'x' });
    await backedUp(bot.other, bot.file, { withSecrets: true });
    await bot.restore(bot.dataDir, bot.driver);
    expect(await heldBy(bot.driver)).to.deep.equal(held);

    lay(bot.other, { 'documents/party/collections/user/rosters/1.json': '{' });
    await backedUp(bot.other, bot.file, { withSecrets: true });
    const { damaged } = await bot.restore(bot.dataDir, bot.driver);
    expect(damaged).to.deep.equal(['party/collections/user/rosters/1']);
    expect((await heldBy(bot.driver)).documents).to.equal(0);
  });

  it('is of one moment: never the second of two documents without the first', async () => {
    await using bot = await world();
    let stop = false;
    let n = 0;
    const writing = (async () => {
      while (!stop) {
        n += 1;
        await bot.driver.write(['pairs', 'one'], { version: 1, data: { n } });
        await bot.driver.write(['pairs', 'two'], { version: 1, data: { n } });
      }
    })();
    for (let round = 0; round < 3; round += 1) {
      await bot.backUp();
      await bot.restore(bot.other);
      const files = bot.filesOf(bot.other);
      const [one, two] = await Promise.all([files.read(['pairs', 'one']), files.read(['pairs', 'two'])]);
      const numbers = [one, two].map((stored) => Number(Object(stored?.data).n ?? 0));
      expect((numbers[0] ?? 0) - (numbers[1] ?? 0)).to.be.within(0, 1);
    }
    stop = true;
    await writing;
  });
});
