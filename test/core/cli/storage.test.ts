import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileDriver, createSystemClock, loadConfig } from '@cinnabar/core';
import { runStorage } from '@cinnabar/core/internal/cli/storage';
import { lockData } from '@cinnabar/core/internal/data-lock/lock';
import { createPartition } from '@cinnabar/core/internal/gateway/partition';
import { openDatabase } from '@cinnabar/core/internal/storage/drivers/postgres/database';
import { createManualClock } from '@cinnabar/core/testing';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';
import { recordingLogger } from '../../support/logs.js';
import { describePostgres, testDatabase } from '../../support/postgres.js';

/** A stopped bot with files, and an empty database. */
async function stopped(env: Readonly<Record<string, string>> = {}) {
  const folder = makeFolder();
  const database = await testDatabase();
  folder.write('config/shared.yaml', `storage:\n  schema: ${database.schema}\n`);
  const config = loadConfig(folder.path, { CINNABAR_DATA: 'data', DATABASE_URL: database.url, ...env });
  const { dataDir } = config;
  const log = recordingLogger();
  const files = createFileDriver({
    root: join(dataDir, 'documents'),
    journals: dataDir,
    clock: createSystemClock(),
    log,
  });
  for (let n = 0; n < 40; n += 1)
    await files.write(['dice', 'collections', 'user', 'rolls', String(n)], { version: 1, data: { z: n, a: '💜' } });
  const journal = files.journal(['relay', 'queue', 'queue']);
  await journal.add('{"n":1}\n{"n":2}\n');
  await journal.release();
  for (const path of [
    ['persona', '500', 'guild'],
    ['tools', '1', '10', '2026-01-01-00'],
  ]) {
    const own = files.journal(path);
    await own.add(`{"of":"${path[0]}"}\n`);
    await own.release();
  }
  const printed: string[] = [];
  const stream = { write: (text: string) => printed.push(text) > 0 };
  const run = (operands: readonly string[], from?: string, to?: string) =>
    runStorage(operands, { from, to }, config, { stdout: stream, stderr: stream }).catch(String);
  return {
    dataDir,
    files,
    database,
    check: () => run(['check']),
    copy: (from: string, to: string) => run(['copy'], from, to),
    async empty() {
      for (const path of await files.list([])) await files.erase(path);
      for (const { path } of await files.journals()) await files.journal(path).erase();
    },
    take: () => printed.splice(0).join(''),
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

describePostgres('cinnabar storage', () => {
  it('copies all documents and journals into the database, and back into an empty folder', async () => {
    await using bot = await stopped();
    expect(await bot.copy('files', 'postgres')).to.equal(0);
    const said = bot.take();
    expect(said).to.match(/^43 copied; both hold 40 documents and 3 journals, SHA-256 [0-9a-f]{64}\n$/);
    expect(await bot.check()).to.equal(0);
    expect(bot.take()).to.equal(said.replace('43 copied; both hold ', ''));

    await bot.empty();
    expect(await bot.copy('postgres', 'files')).to.equal(0);
    expect(bot.take()).to.equal(said);
  });

  it('takes the history of tools along from the folder of TOOLS_PATH, and back', async () => {
    using kept = makeFolder();
    await using bot = await stopped({ TOOLS_PATH: kept.path });
    const hour = ['1', '10', '2026-01-01-00'];
    const files = createFileDriver({
      root: kept.path,
      journals: kept.path,
      clock: createSystemClock(),
      log: recordingLogger(),
    });
    await files.journal(hour).add('{"of":"TOOLS_PATH"}\n');
    expect(await bot.copy('files', 'postgres')).to.equal(0);
    const said = bot.take();
    expect(said).to.match(/both hold 40 documents and 3 journals/);

    await bot.empty();
    await files.journal(hour).erase();
    expect(await bot.copy('postgres', 'files')).to.equal(0);
    expect(bot.take()).to.equal(said);
    expect(await files.journal(hour).read()).to.equal('{"of":"TOOLS_PATH"}\n');
  });

  it('finishes a copy that was cut off', async () => {
    await using bot = await stopped();
    await bot.copy('files', 'postgres');
    await bot.database.query(`DELETE FROM ${bot.database.schema}.documents WHERE path LIKE '%/1%'`);
    bot.take();
    expect(await bot.copy('files', 'postgres')).to.equal(0);
    expect(bot.take()).to.match(/^11 copied; both hold 40 documents and 3 journals/);
  });

  it('changes nothing of a target that holds something else', async () => {
    await using bot = await stopped();
    await bot.copy('files', 'postgres');
    const path = ['dice', 'collections', 'user', 'rolls', '7'];
    await bot.files.write(path, { version: 1, data: { changed: true } });
    expect(await bot.copy('files', 'postgres')).to.match(/rolls\/7 is there already, and differs/);
    await bot.files.erase(path);
    expect(await bot.copy('files', 'postgres')).to.match(/holds 1 documents or journals that the source has not/);
  });

  it('names documents that cannot be read, and copies the others', async () => {
    await using bot = await stopped();
    writeFileSync(join(bot.dataDir, 'documents/dice/collections/user/rolls/7.json'), '{');
    expect(await bot.copy('files', 'postgres')).to.equal(1);
    expect(bot.take()).to.match(
      /^42 copied; both hold 39 documents .*\ncannot be read: dice\/collections\/user\/rolls\/7\n$/,
    );
  });

  it('touches nothing while the bot runs', async () => {
    await using bot = await stopped();
    const lock = await lockData(bot.dataDir, createManualClock());
    expect(await bot.copy('files', 'postgres')).to.match(/is in use by process/);
    lock.release();
  });

  it('touches nothing while a cluster runs on another machine, and takes the journals of its groups along afterwards', async () => {
    await using bot = await stopped();
    const clock = createSystemClock();
    const { url, schema } = bot.database;
    const cluster = openDatabase({ url, schema, poolSize: 1, use: 'cluster', clock, log: recordingLogger() });
    const path = ['relay', 'queue', 'queue'];
    for (const group of [0, 1])
      await cluster
        .driver({ partition: createPartition(group, 2) })
        .journal(path)
        .add(`{"n":${group}}\n`);
    expect(await bot.check()).to.match(/is in use by a cluster \(cinnabar start --cluster\)/);
    await cluster.close();
    await bot.empty();
    expect(await bot.copy('postgres', 'files')).to.equal(0);
    expect(await bot.files.journal(path).read()).to.equal('{"n":0}\n{"n":1}\n');
  });
});
