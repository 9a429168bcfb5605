import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { claimsOn, clusterProcess, databaseAway, heldLease } from '../../support/cluster-process.js';
import { describePostgres, testDatabase } from '../../support/postgres.js';

/** A database that accepts every claim after the test releases it. */
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
  it('of an event that waits for its server’s state are made before the event counts as begun', async () => {
    const { order, goOn, database } = slowDatabase();
    const claims = claimsOn(database, heldLease(), createManualClock());
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

  it('that the database could not accept are made later, unless the member has an answer', async () => {
    const clock = createManualClock();
    const order: string[] = [];
    const write = async (changes: string) => {
      if (order.length === 0) {
        order.push('failed');
        throw databaseAway();
      }
      order.push(changes.includes('INSERT') ? 'claimed' : 'finished');
      return '1';
    };
    const database = {
      schema: 'cinnabar',
      query: async () => [],
      writer: () => ({ write, transaction: () => Promise.reject(new Error('nothing here is a transaction')) }),
    };
    const claims = claimsOn(database, heldLease(), clock);
    const running = claims.run(asked, () => 'unanswered');
    const begun = claims.begun().then(() => order.push('begun'));
    await running;
    await clock.advance(10_000);
    await begun;
    expect(order).to.deep.equal(['failed', 'claimed', 'begun']);
  });
});

describePostgres('claims in PostgreSQL', () => {
  it('are deleted after a day, however long a process has its group', async () => {
    await using place = await testDatabase();
    await using process = clusterProcess(place, { poolSize: 4 });
    await process.open();
    await place.query(`INSERT INTO ${place.schema}.leases (group_number, token) VALUES (0, 1)`);
    await place.query(
      `INSERT INTO ${place.schema}.claims (id, group_number, token, user_id, claimed_at)
         SELECT n, 0, 1, 3, now() - interval '25 hours' FROM generate_series(1, 10) AS n`,
    );
    const claims = process.claims(heldLease());
    const ids = Array.from({ length: 300 }, (_, index) => String(BigInt(asked.id) + BigInt(index)));
    await Promise.all(ids.map((id) => claims.run({ ...asked, id, channelId: id }, () => 'answered')));
    const left = await place.query(`SELECT id FROM ${place.schema}.claims WHERE claimed_at < now() - interval '1 day'`);
    expect(left).to.deep.equal([]);
    const kept = await place.query(`SELECT count(*)::int AS count FROM ${place.schema}.claims`);
    expect(kept).to.deep.equal([{ count: ids.length }]);
  });
});
