import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileDriver, createSystemClock } from '@cinnabar/core';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { clusterProcess } from '../../support/cluster-process.js';
import { lockByAnother, makeFolder } from '../../support/folder.js';
import { recordingLogger } from '../../support/logs.js';
import { describePostgres, testDatabase } from '../../support/postgres.js';

/** A stopped bot with files, and an empty database. */
async function stopped(env: Readonly<Record<string, string>> = {}) {
  const folder = makeFolder();
  const database = await testDatabase();
  folder.write('config/shared.yaml', `storage:\n  schema: ${database.schema}\n`);
  const dataDir = join(folder.path, 'data');
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
  const run = async (...args: readonly string[]) => {
    const variables = { CINNABAR_DATA: dataDir, DATABASE_URL: database.url, ...env };
    const { code, screen } = await cinnabar(['storage', ...args], { cwd: folder.path, env: variables });
    return { code, said: screen };
  };
  return {
    dataDir,
    files,
    database,
    check: () => run('check'),
    copy: (from: string, to: string) => run('copy', '--from', from, '--to', to),
    async empty() {
      for (const path of await files.list([])) await files.erase(path);
      for (const { path } of await files.journals()) await files.journal(path).erase();
    },
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

describePostgres('cinnabar storage', () => {
  it('copies all documents and journals into the database, and back into an empty folder', async () => {
    await using bot = await stopped();
    const { code, said } = await bot.copy('files', 'postgres');
    expect(code).to.equal(0);
    expect(said).to.match(/^43 copied; both hold 40 documents and 3 journals, SHA-256 [0-9a-f]{64}\n$/);
    expect(await bot.check()).to.deep.equal({ code: 0, said: said.replace('43 copied; both hold ', '') });

    await bot.empty();
    expect(await bot.copy('postgres', 'files')).to.deep.equal({ code: 0, said: said });
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
    const written = files.journal(hour);
    await written.add('{"of":"TOOLS_PATH"}\n');
    await written.release();
    const { code, said } = await bot.copy('files', 'postgres');
    expect(code).to.equal(0);
    expect(said).to.match(/both hold 40 documents and 3 journals/);

    await bot.empty();
    await files.journal(hour).erase();
    expect(await bot.copy('postgres', 'files')).to.deep.equal({ code: 0, said: said });
    expect(await files.journal(hour).read()).to.equal('{"of":"TOOLS_PATH"}\n');
  });

  it('finishes a copy that was cut off', async () => {
    await using bot = await stopped();
    await bot.copy('files', 'postgres');
    await bot.database.query(`DELETE FROM ${bot.database.schema}.documents WHERE path LIKE '%/1%'`);
    const { code, said } = await bot.copy('files', 'postgres');
    expect(code).to.equal(0);
    expect(said).to.match(/^11 copied; both hold 40 documents and 3 journals/);
  });

  it('changes nothing of a target that holds something else', async () => {
    await using bot = await stopped();
    await bot.copy('files', 'postgres');
    const path = ['dice', 'collections', 'user', 'rolls', '7'];
    await bot.files.write(path, { version: 1, data: { changed: true } });
    expect((await bot.copy('files', 'postgres')).said).to.match(/rolls\/7 is there already, and differs/);
    await bot.files.erase(path);
    expect((await bot.copy('files', 'postgres')).said).to.match(
      /holds 1 documents or journals that the source has not/,
    );
  });

  it('names documents that cannot be read, and copies the others', async () => {
    await using bot = await stopped();
    writeFileSync(join(bot.dataDir, 'documents/dice/collections/user/rolls/7.json'), '{');
    const { code, said } = await bot.copy('files', 'postgres');
    expect(code).to.equal(1);
    expect(said).to.match(
      /^42 copied; both hold 39 documents .*\ncannot be read: dice\/collections\/user\/rolls\/7\n$/,
    );
  });

  it('touches nothing while the bot runs', async () => {
    await using bot = await stopped();
    using _ = lockByAnother(bot.dataDir);
    expect((await bot.copy('files', 'postgres')).said).to.match(/is in use by process/);
  });

  it('touches nothing while a cluster runs on another machine, and takes the journals of its groups along afterwards', async () => {
    await using bot = await stopped();
    const cluster = clusterProcess(bot.database, { poolSize: 1 });
    const path = ['relay', 'queue', 'queue'];
    for (const group of [0, 1]) await cluster.driver(group, 2).journal(path).add(`{"n":${group}}\n`);
    expect((await bot.check()).said).to.match(/is in use by a cluster \(cinnabar start --cluster\)/);
    await cluster.close();
    await bot.empty();
    expect((await bot.copy('postgres', 'files')).code).to.equal(0);
    expect(await bot.files.journal(path).read()).to.equal('{"n":0}\n{"n":1}\n');
  });
});
