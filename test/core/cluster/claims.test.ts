import { createSystemClock } from '@cinnabar/core/internal/clock/clock';
import { createClaims } from '@cinnabar/core/internal/cluster/claims';
import { DatabaseError } from '@cinnabar/core/internal/storage/drivers/postgres/connection';
import { openDatabase } from '@cinnabar/core/internal/storage/drivers/postgres/database';
import { CinnabarError } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { recordingLogger } from '../../support/logs.js';
import { describePostgres, testDatabase } from '../../support/postgres.js';

/** A database that takes every claim once it is let. */
function slowDatabase() {
  const order: string[] = [];
  let goOn: () => void = () => undefined;
  const let_ = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const write = async () => {
    await let_;
    order.push('claimed');
    return '1';
  };
  return {
    order,
    goOn,
    database: {
      schema: 'cinnabar',
      query: async () => [],
      writer: () => ({ write, transaction: () => Promise.reject(new Error('nothing here is a transaction')) }),
    },
  };
}

const asked = { id: '1574453574199410712', guildId: '1', channelId: '2', userId: '3' };

describe('claims', () => {
  it('of what waits until its server is known are made before it counts as begun', async () => {
    const { order, goOn, database } = slowDatabase();
    const claims = createClaims(
      database,
      { group: 0, token: 1n, isHeld: () => true, held: async () => undefined },
      { clock: createSystemClock(), log: recordingLogger() },
    );
    let known: () => void = () => undefined;
    const reading = new Promise<void>((resolve) => {
      known = resolve;
    }).then(() => void claims.run(asked, () => 'answered'));
    claims.follows(reading);
    const begun = claims.begun().then(() => order.push('begun'));
    known();
    await reading;
    goOn();
    await begun;
    expect(order.slice(0, 2)).to.deep.equal(['claimed', 'begun']);
  });
});

/** A database that is away until it is back, then another process has the group. */
function lostDatabase(back: () => Promise<string | undefined>) {
  let isAway = true;
  const write = async () => {
    if (isAway) throw new DatabaseError('DATABASE_AWAY', new Error('cut off'));
    return back();
  };
  return {
    database: {
      schema: 'cinnabar',
      query: async () => [],
      writer: () => ({ write, transaction: () => Promise.reject(new Error('nothing here is a transaction')) }),
    },
    comeBack() {
      isAway = false;
    },
  };
}

/** So many quarters of a second, each with what it brings about. */
async function pass(clock: ReturnType<typeof createManualClock>, quarters: number): Promise<void> {
  for (let quarter = 0; quarter < quarters; quarter += 1) {
    clock.advance(250);
    await new Promise(setImmediate);
  }
}

describe('claims while the database is away', () => {
  const lease = { group: 0, token: 1n, isHeld: () => true, held: async () => undefined };

  it('are waited for: nothing is begun that the next holder would begin again', async () => {
    const clock = createManualClock();
    const { database, comeBack } = lostDatabase(async () => '1');
    const claims = createClaims(database, lease, { clock, log: recordingLogger() });
    let begun = 0;
    const run = claims.run(asked, () => {
      begun += 1;
      return 'answered';
    });
    await pass(clock, 20);
    expect(begun).to.equal(0);
    comeBack();
    await pass(clock, 4);
    await run;
    expect(begun).to.equal(1);
  });

  it('are left to the process that has the group meanwhile', async () => {
    const clock = createManualClock();
    const { database, comeBack } = lostDatabase(async () => {
      throw new CinnabarError('CINNABAR_LEASE_LOST', { group: '0' });
    });
    const claims = createClaims(database, lease, { clock, log: recordingLogger() });
    let begun = 0;
    const refused = failure('CINNABAR_LEASE_LOST', () =>
      claims.run(asked, () => {
        begun += 1;
        return 'answered';
      }),
    );
    await pass(clock, 20);
    comeBack();
    await pass(clock, 4);
    await refused;
    expect(begun).to.equal(0);
  });
});

describePostgres('claims in PostgreSQL', () => {
  it('are deleted after a day, however long a process has its group', async () => {
    await using place = await testDatabase();
    const log = recordingLogger();
    const clock = createSystemClock();
    const database = openDatabase({ ...place, poolSize: 4, use: 'cluster', clock, log });
    try {
      await database.open();
      await place.query(`INSERT INTO ${place.schema}.leases (group_number, token) VALUES (0, 1)`);
      await place.query(
        `INSERT INTO ${place.schema}.claims (id, group_number, token, user_id, claimed_at)
           SELECT n, 0, 1, 3, now() - interval '25 hours' FROM generate_series(1, 10) AS n`,
      );
      const lease = { group: 0, token: 1n, isHeld: () => true, held: async () => undefined };
      const claims = createClaims(database, lease, { clock, log });
      const ids = Array.from({ length: 300 }, (_, index) => String(BigInt(asked.id) + BigInt(index)));
      await Promise.all(ids.map((id) => claims.run({ ...asked, id, channelId: id }, () => 'answered')));
      for (const id of ids.slice(0, 3))
        await claims.run({ ...asked, id }, () => {
          throw new Error('it was done before');
        });
      const left = await place.query(
        `SELECT id FROM ${place.schema}.claims WHERE claimed_at < now() - interval '1 day'`,
      );
      expect(left).to.deep.equal([]);
      const kept = await place.query(`SELECT count(*)::int AS count FROM ${place.schema}.claims`);
      expect(kept).to.deep.equal([{ count: ids.length }]);
    } finally {
      await database.close();
    }
  });
});
