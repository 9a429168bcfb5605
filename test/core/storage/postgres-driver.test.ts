import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  createHost,
  createPostgresDriver,
  createSystemClock,
  type DocumentPath,
  type Driver,
  loadConfig,
} from '@cinnabar/core';
import { createTestHost, storeByDefault } from '@cinnabar/core/testing';
import { createJournal, sentenceOf, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { makeFolder } from '../../support/folder.js';
import { recordingLogger } from '../../support/logs.js';
import { databaseFor, describePostgres, type TestDatabase, testDatabase, testServer } from '../../support/postgres.js';
import { filesOfBackup } from '../backup/world.js';
import { describeDriver } from './driver-contract.js';
import { opener, storageOn, temporaryFolder } from './fixture.js';

const PATH: DocumentPath = ['party', 'collections', 'user', 'rosters', '42'];
const one = { version: 1, data: { count: 1 } };

function driverOn({ url, schema }: TestDatabase, use: 'alone' | 'cluster' | 'look' = 'cluster') {
  const log = recordingLogger();
  const driver = createPostgresDriver({ url, schema, poolSize: 4, use, clock: createSystemClock(), log });
  return { driver, log, [Symbol.asyncDispose]: () => driver.close() };
}

/** Text in the form of a row: invalid JSON becomes a JSON string. */
function asJson(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}

const schema = z.object({ n: z.number().default(0) });

/** A process, from the view of the database. */
function processOn(database: TestDatabase) {
  const { driver, log } = driverOn(database);
  const storage = storageOn(driver, { log });
  const { collections } = opener(storage).open({ collections: { counts: { scope: 'user', version: 1, schema } } });
  return { driver, log, counts: collections.counts, [Symbol.asyncDispose]: () => driver.close() };
}

/** Repeats the query until the answer is right; the test's time limit ends it. */
async function eventually<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isRight(answer)) return answer;
    await new Promise(setImmediate);
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error);

describePostgres('PostgreSQL', () => {
  describeDriver('postgres', async () => {
    const database = await testDatabase();
    const { driver } = driverOn(database);
    return {
      driver,
      async damage(path, text, options) {
        const place = [asJson(text), path.join('/')];
        await database.query(`UPDATE ${database.schema}.documents SET body = $1 WHERE path = $2`, place);
        if (options?.lastGood !== true) return;
        await database.query(`UPDATE ${database.schema}.documents SET last_good = $1 WHERE path = $2`, place);
      },
      async [Symbol.asyncDispose]() {
        await driver.close();
        await database[Symbol.asyncDispose]();
      },
    };
  });

  describe('the tables of the postgres driver', () => {
    it('keep the order of keys and every character', async () => {
      await using database = await testDatabase();
      await using made = driverOn(database);
      const data = { z: 1, a: '\0 \ud800 💜', '10': true };
      await made.driver.write(PATH, { version: 1, data });
      const stored = await made.driver.read(PATH);
      expect(JSON.stringify(stored?.data)).to.equal(JSON.stringify(data));
    });

    it('are made once by processes that start together', async () => {
      await using database = await testDatabase();
      const drivers = Array.from({ length: 4 }, () => driverOn(database).driver);
      await Promise.all(drivers.map((driver, index) => driver.write([...PATH, String(index)], one)));
      expect(await drivers[0]?.list(PATH)).to.have.length(4);
      const steps = await database.query(`SELECT version FROM ${database.schema}.migrations ORDER BY version`);
      expect(steps.map(({ version }) => version)).to.deep.equal(steps.map((_, index) => index + 1));
      await Promise.all(drivers.map((driver) => driver.close()));
    });

    it('are made in a schema that exists by a user who may not make one', async () => {
      await using database = await testDatabase();
      const user = `u_${database.schema}`;
      await database.query(`CREATE ROLE ${user} LOGIN`);
      await database.query(`CREATE SCHEMA ${database.schema} AUTHORIZATION ${user}`);
      try {
        await using made = driverOn({ ...database, url: database.url.replace('cinnabar@', `${user}@`) });
        await made.driver.write(PATH, one);
        expect(await made.driver.read(PATH)).to.deep.equal(one);
      } finally {
        await database.query(`DROP OWNED BY ${user} CASCADE`);
        await database.query(`DROP ROLE ${user}`);
      }
    });

    it('are left alone by a version that is too old for them, and used by one that a later version allows', async () => {
      await using database = await testDatabase();
      const write = async (driver: Driver) => driver.write(PATH, one).then(() => 'written', codeOf);
      const add = (oldest: number) =>
        database.query(`INSERT INTO ${database.schema}.migrations (version, oldest_code) VALUES ($1, $2)`, [
          oldest + 97,
          oldest,
        ]);
      {
        await using first = driverOn(database);
        expect(await write(first.driver)).to.equal('written');
      }
      await add(1);
      {
        await using allowed = driverOn(database);
        expect(await write(allowed.driver)).to.equal('written');
      }
      const [made] = await database.query(
        `SELECT max(version) AS version FROM ${database.schema}.migrations WHERE version < 97`,
      );
      await add(Number(made?.version) + 1);
      await using refused = driverOn(database);
      expect(await write(refused.driver)).to.equal('CINNABAR_DATA_UNUSABLE');
    });

    it('are read by index below a prefix, whatever else there is', async () => {
      await using database = await testDatabase();
      await using made = driverOn(database);
      await made.driver.write(PATH, one);
      await database.query(
        `INSERT INTO ${database.schema}.documents (path, body) SELECT 'filler/' || n, '{}' FROM generate_series(1, 5000) n`,
      );
      await database.query(`ANALYZE ${database.schema}.documents`);
      const plan = await database.query(
        `EXPLAIN SELECT path FROM ${database.schema}.documents WHERE path >= 'party/' AND path < 'party0'`,
      );
      expect(JSON.stringify(plan)).to.match(/Index (?:Only )?Scan/);
    });

    it('belong to one process that says it is the only one', async () => {
      await using database = await testDatabase();
      await using second = driverOn(database, 'alone');
      {
        await using first = driverOn(database, 'alone');
        await first.driver.write(PATH, one);
        expect(await second.driver.read(PATH).catch(codeOf)).to.equal('CINNABAR_DATA_IN_USE');
      }
      expect(
        await eventually(
          () => second.driver.read(PATH).catch(codeOf),
          (found) => found !== 'CINNABAR_DATA_IN_USE',
        ),
      ).to.deep.equal(one);
    });

    it('belong to the processes of a cluster together, or to one beside which there is no cluster', async () => {
      await using database = await testDatabase();
      const refusal = (driver: Driver) =>
        driver.read(PATH).then(
          () => 'taken',
          (error: unknown) => (error instanceof Error ? error.message.replaceAll(database.schema, 'S') : error),
        );
      {
        await using first = driverOn(database);
        await using second = driverOn(database);
        expect([await refusal(first.driver), await refusal(second.driver)]).to.deep.equal(['taken', 'taken']);
        await using alone = driverOn(database, 'alone');
        expect(await refusal(alone.driver)).to.equal(
          'The data in the database schema S is in use by a cluster (cinnabar start --cluster). Stop that one first, or choose other data with CINNABAR_DATA or --bot.',
        );
      }
      await using alone = driverOn(database, 'alone');
      await eventually(
        () => refusal(alone.driver),
        (answer) => answer === 'taken',
      );
      await using late = driverOn(database);
      expect(await refusal(late.driver)).to.match(/is in use by a process that runs without --cluster\. Stop that one/);
    });
  });

  describe('the doctor, of a database', () => {
    const finding = z.object({ about: z.string(), ok: z.boolean(), text: z.string() });
    const doctorSchema = z.object({ findings: z.array(finding) });
    const findings = async (database: { readonly url: string; readonly schema: string }) => {
      using folder = makeFolder({ 'config/shared.yaml': `storage:\n  schema: ${database.schema}\n` });
      const place = { cwd: folder.path, env: { DATABASE_URL: database.url } };
      const { out } = await cinnabar(['doctor', '--json'], place);
      return doctorSchema
        .parse(JSON.parse(out))
        .findings.filter(({ about }) => about === 'database')
        .map(({ ok, text }) => `${ok ? 'well' : 'bad'}: ${text.replaceAll(database.schema, 'S')}`);
    };

    it('says version, tables and rights, and makes nothing', async () => {
      await using database = await testDatabase();
      const { url, schema } = database;
      const empty = await findings({ url, schema });
      expect(empty?.[0]).to.match(
        /^well: The database answers: PostgreSQL \d+\.\d+; the first start makes the tables in the schema S$/,
      );
      expect(empty?.[1]).to.equal('well: The schema S can be made');
      {
        await using looking = driverOn(database, 'look');
        expect(await looking.driver.list([])).to.deep.equal([]);
      }
      expect(await database.query('SELECT to_regnamespace($1) AS made', [schema])).to.deep.equal([{ made: null }]);
      {
        await using made = driverOn(database);
        await made.driver.write(PATH, one);
      }
      const full = await findings({ url, schema });
      expect(full?.[0]).to.match(/^well: .*, tables of version \d+ in the schema S$/);
      expect(full?.[1]).to.equal('well: The tables of the schema S can be written to');
    });

    it('says that a user may not write, and that a server does not answer', async () => {
      await using database = await testDatabase();
      const { url, schema } = database;
      await database.query(`CREATE ROLE r_${schema} LOGIN`);
      const reader = url.replace('cinnabar@', `r_${schema}@`);
      expect((await findings({ url: reader, schema }))?.[1]).to.equal(
        'bad: The user of the database may not write in the schema S',
      );
      await database.query(`DROP ROLE r_${schema}`);
      const gone = await findings({ url: 'postgres://v@127.0.0.1:1/none', schema });
      expect(gone).to.deep.equal(['bad: The database cannot be used: the database does not answer (DATABASE_AWAY)']);
    });
  });

  describe('processes on one database', () => {
    it('see what another one has changed, and what was changed by hand', async () => {
      await using database = await testDatabase();
      await using here = processOn(database);
      await using there = processOn(database);
      await here.counts.of('42').set({ n: 1 });
      expect(await there.counts.of('42').get()).to.deep.equal({ n: 1 });
      await here.counts.of('42').set({ n: 2 });
      await eventually(
        () => there.counts.of('42').get(),
        ({ n }) => n === 2,
      );
      await database.query(`UPDATE ${database.schema}.documents SET body = '{"version":1,"data":{"n":3}}'`);
      await eventually(
        () => there.counts.of('42').get(),
        ({ n }) => n === 3,
      );
      await here.counts.of('42').delete();
      await eventually(
        () => there.counts.of('42').find(),
        (found) => found === undefined,
      );
    });

    it('lose none of the updates that they make at the same time', async () => {
      await using database = await testDatabase();
      await using here = processOn(database);
      await using there = processOn(database);
      const add = ({ counts }: ReturnType<typeof processOn>) =>
        counts.of('42').update((draft) => {
          draft.n += 1;
        });
      await Promise.all(Array.from({ length: 20 }, (_, index) => add(index % 2 === 0 ? here : there)));
      expect((await database.query(`SELECT body FROM ${database.schema}.documents`))[0]?.body).to.deep.equal({
        version: 1,
        data: { n: 20 },
      });
    });
  });

  describe('a bot on a database', () => {
    const start = (storage: { readonly url: string; readonly schema: string }, dataDir: string) => {
      const config = { ...loadConfig(dataDir, { CINNABAR_DATA: dataDir }), storage: { ...storage, poolSize: 2 } };
      const host = createHost({ config, only: [] });
      return {
        failure: () => host.start('token').then(() => 'started', codeOf),
        [Symbol.asyncDispose]: async () => void (await host.stop()),
      };
    };

    it('does not start while another one has it, or while it is away', async () => {
      await using database = await testDatabase();
      using folder = temporaryFolder();
      await using other = driverOn(database, 'alone');
      await other.driver.write(PATH, one);
      {
        await using second = start(database, folder.path);
        expect(await second.failure()).to.equal('CINNABAR_DATA_IN_USE');
      }
      await using third = start({ url: 'postgres://v@127.0.0.1:1/none', schema: 'cinnabar' }, folder.path);
      expect(await third.failure()).to.equal('CINNABAR_DATA_UNUSABLE');
    });
  });

  describe('a database that goes away', () => {
    it('is refused writes with one error, goes on being read from the cache, and is used again by itself', async () => {
      await using server = await testServer();
      await using here = processOn(server);
      await using there = processOn(server);
      const journal = createJournal(here.driver.journal(['relay', 'queue', 'queue']), schema);
      await here.counts.of('42').set({ n: 1 });
      await there.counts.of('42').get();
      await journal.append({ n: 1 });

      await server.kill();
      const failure: unknown = await here.counts
        .of('42')
        .set({ n: 2 })
        .catch((error: unknown) => error);
      expect(codeOf(failure)).to.equal('CINNABAR_STORAGE_WRITE');
      expect(sentenceOf(failure)).to.equal('I cannot save anything at the moment.');
      expect(codeOf(await journal.append({ n: 2 }).catch((error: unknown) => error))).to.equal(
        'CINNABAR_STORAGE_WRITE',
      );
      expect(await there.counts.of('42').get()).to.deep.equal({ n: 1 });

      await server.start();
      await eventually(
        () => here.counts.of('42').set({ n: 3 }).catch(codeOf),
        (answer) => typeof answer !== 'string',
      );
      await eventually(
        () => there.counts.of('42').get(),
        ({ n }) => n === 3,
      );
      await journal.append({ n: 3 });
      expect((await journal.read()).records).to.deep.equal([{ n: 1 }, { n: 3 }]);
    });

    it('is compared by revision after the connection alone was cut', async () => {
      await using database = await testDatabase();
      await using here = processOn(database);
      await here.counts.of('42').set({ n: 1 });
      const { schema: name } = database;
      await database.query(`BEGIN; ALTER TABLE ${name}.documents DISABLE TRIGGER announce;
        UPDATE ${name}.documents SET body = '{"version":1,"data":{"n":2}}';
        ALTER TABLE ${name}.documents ENABLE TRIGGER announce; COMMIT;`);
      expect(await here.counts.of('42').get()).to.deep.equal({ n: 1 });
      await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN ${name}'`);
      await eventually(
        () => here.counts.of('42').get(),
        ({ n }) => n === 2,
      );
    });
  });

  it('is held by a backup that the owner makes', async () => {
    storeByDefault(databaseFor);
    try {
      await using host = await createTestHost({ plugins: ['admin'] });
      host.you.say(host.general, '!set admin backupKeep 3');
      await host.settled();
      host.you.say(host.general, '!backup');
      await host.settled();
      expect(host.general.messages.at(-1)?.content).to.match(/Backed up in [\s\S]*Every checksum is right\.$/);
      const [file = ''] = readdirSync(join(host.dataDir, 'backups'));
      expect(await filesOfBackup(join(host.dataDir, 'backups', file))).to.include.keys(
        'documents/admin/settings/global/global.json',
      );
    } finally {
      storeByDefault(undefined);
    }
  });
});
