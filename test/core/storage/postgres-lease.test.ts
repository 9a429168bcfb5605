import type { DocumentPath } from '@cinnabar/core';
import { CinnabarError, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { clusterProcess } from '../../support/cluster-process.js';
import { failure } from '../../support/codes.js';
import { describePostgres, type TestDatabase, testDatabase } from '../../support/postgres.js';
import { opener, storageOn } from './fixture.js';

const PATH: DocumentPath = ['party', 'collections', 'guild', 'rosters', '42'];
const GROUP = 3;
const SEEDS = 80;
const one = { version: 1, data: { count: 1 } };

/** A process of a cluster that does not renew its lease. Only the database prevents its writes. */
async function processOn(place: TestDatabase, id: string) {
  const { database, ...process } = clusterProcess(place, { poolSize: 6 });
  await process.open();
  const leases = await process.leases(id, { groups: 6, elapsed: () => [0] });
  return {
    database,
    leases,
    async take() {
      const lease = await leases.take(GROUP);
      if (lease === undefined) throw new Error('it was not free');
      return lease;
    },
    [Symbol.asyncDispose]: () => database.close(),
  };
}

const outcome = async (task: () => unknown) => {
  try {
    await task();
    return 'done';
  } catch (error) {
    if (!(error instanceof CinnabarError)) throw error;
    return error.code;
  }
};

const expire = ({ query, schema }: TestDatabase) => query(`UPDATE ${schema}.leases SET until = now() - interval '1 s'`);

describePostgres('PostgreSQL: writes under a lease', () => {
  it('are refused once another process has it: documents, copies, journals and tables of others', async () => {
    await using place = await testDatabase();
    await using here = await processOn(place, 'here');
    await using there = await processOn(place, 'there');
    const lease = await here.take();
    const driver = here.database.driver({ lease });
    const journal = driver.journal(['party', 'log', 'log']);
    await driver.write(PATH, one);
    await journal.add('{"n":1}\n');
    const revision = (await driver.shared?.read(PATH))?.revision;
    await expire(place);
    const next = there.database.driver({ lease: await there.take() });

    const writer = here.database.writer(lease);
    const attempts: Readonly<Record<string, () => Promise<unknown> | undefined>> = {
      write: () => driver.write(PATH, { version: 1, data: 'late' }),
      insert: () => driver.write([...PATH, 'new'], one),
      replace: () => driver.shared?.replace(PATH, { version: 1, data: 'late' }, revision),
      create: () => driver.shared?.replace([...PATH, 'new'], one, undefined),
      remove: () => driver.shared?.replace(PATH, undefined, revision),
      delete: () => driver.delete(PATH),
      erase: () => driver.erase(PATH),
      setAside: () => driver.setAside(PATH),
      keep: () => driver.keep(PATH, 'v1'),
      add: () => journal.add('{"n":2}\n'),
      rewrite: () => journal.replace(''),
      eraseJournals: () => driver.eraseJournals('party'),
      transaction: () => writer.transaction(async (query) => query(`DELETE FROM ${place.schema}.documents`)),
    };
    for (const [name, attempt] of Object.entries(attempts)) {
      expect(await outcome(attempt), name).to.equal('CINNABAR_LEASE_LOST');
    }
    expect(await next.list([])).to.deep.equal([PATH]);
    expect(await next.read(PATH)).to.deep.equal(one);
    expect(await place.query(`SELECT FROM ${place.schema}.copies`)).to.deep.equal([]);
    expect(await next.journal(['party', 'log', 'log']).read()).to.equal('{"n":1}\n');
  });

  it('reach plugins as an error of its own, of which no owner hears', async () => {
    await using place = await testDatabase();
    await using here = await processOn(place, 'here');
    await using there = await processOn(place, 'there');
    const lease = await here.take();
    const storage = storageOn(here.database.driver({ lease }));
    const schema = z.object({ n: z.number() });
    const { collections } = opener(storage).open({ collections: { counts: { scope: 'user', version: 1, schema } } });
    await collections.counts.of('42').set({ n: 1 });
    await expire(place);
    await there.take();
    await failure('CINNABAR_LEASE_LOST', () => collections.counts.of('42').set({ n: 2 }));
    expect(await collections.counts.of('42').find()).to.deep.equal({ n: 1 });
  });

  it('wait for a renewal that is late, and do not reach the database before', async () => {
    await using place = await testDatabase();
    await using here = await processOn(place, 'here');
    const { token, group } = await here.take();
    let renew = () => {};
    const renewal = new Promise<void>((resolve) => {
      renew = resolve;
    });
    let isHeld = false;
    const lease = { group, token, isHeld: () => isHeld, held: () => renewal };
    const driver = here.database.driver({ lease });
    const writing = driver.write(PATH, one);
    expect(await driver.read(PATH)).to.equal(undefined);
    isHeld = true;
    renew();
    await writing;
    expect(await driver.read(PATH)).to.deep.equal(one);
  });

  it('never follow a take-over, however close they come to it', async () => {
    await using place = await testDatabase();
    await using here = await processOn(place, 'here');
    await using there = await processOn(place, 'there');
    const { schema } = place;
    await place.query(
      `CREATE TABLE ${schema}.effects (seed int, token bigint, at bigint GENERATED ALWAYS AS IDENTITY)`,
    );
    let lease = await here.take();
    let [owner, taker] = [here, there];
    let written = 0;
    let refused = 0;
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const held = lease;
      const writer = owner.database.writer(held);
      const write = async (byTransaction: boolean) => {
        // Waits between reading the lease and committing.
        const effect = `INSERT INTO ${schema}.effects (seed, token) SELECT ${seed}, ${held.token} FROM pg_sleep(random() * 0.005)`;
        const attempt = () =>
          byTransaction
            ? writer.transaction(async (query) => void (await query(effect)))
            : writer.write(`done AS (${effect}, fence RETURNING at AS result)`, []);
        if ((await outcome(attempt)) === 'done') written += 1;
        else refused += 1;
      };
      // A few writes on each connection, so that some begin while the other process waits for the lease.
      const writing = async (byTransaction: boolean) => {
        for (let left = 1 + (seed % 4); left > 0; left -= 1) await write(byTransaction);
      };
      const writers = [writing(false), writing(seed % 2 === 0), writing(false)];
      await expire(place);
      for (let turn = seed % 7; turn > 0; turn -= 1) await new Promise(setImmediate);
      lease = await taker.take();
      // After the commit, the number of writes with the old token must not change.
      const [before] = await place.query(`SELECT count(*) AS n FROM ${schema}.effects WHERE seed = ${seed}`);
      await Promise.all([...writers, write(false), write(true)]);
      const [after] = await place.query(`SELECT count(*) AS n FROM ${schema}.effects WHERE seed = ${seed}`);
      expect(after, `seed ${seed}`).to.deep.equal(before);
      [owner, taker] = [taker, owner];
    }
    expect(written).to.be.greaterThan(SEEDS);
    expect(refused).to.be.at.least(SEEDS * 2);
  });
});
