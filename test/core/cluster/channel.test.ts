import { UserError, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { clusterProcess, heldLease } from '../../support/cluster-process.js';
import { failure } from '../../support/codes.js';

import { describePostgres, type TestDatabase, testDatabase } from '../../support/postgres.js';

const double = { name: 'double', body: z.number(), answer: z.number() };
const SOON = { deadlineMs: 10_000 };

/** The host of a group, as if in a separate process. */
async function hostOn(place: TestDatabase, group: number, token: number) {
  const process = clusterProcess(place);
  await process.open();
  await place.query(
    `INSERT INTO ${place.schema}.leases (group_number, token) VALUES (${group}, ${token}) ON CONFLICT (group_number) DO UPDATE SET token = ${token}`,
  );
  const channel = process.channel(heldLease(group, token), 2);
  return {
    channel,
    async [Symbol.asyncDispose]() {
      channel.close();
      await process.close();
    },
  };
}

describePostgres('cluster: requests between hosts', () => {
  it('is answered by the host of the group, and by all of them', async () => {
    await using database = await testDatabase();
    await using first = await hostOn(database, 0, 1);
    await using second = await hostOn(database, 1, 1);
    for (const { channel } of [first, second]) await channel.open();
    first.channel.answer(double, async (n) => 2 * n);
    second.channel.answer(double, async (n) => 20 * n);
    expect(await first.channel.ask(1, double, 4, SOON)).to.equal(80);
    expect(await first.channel.ask(0, double, 4, SOON)).to.equal(8);
    const all = await second.channel.askAll(double, 3, SOON);
    expect(all.map((one) => (one.ok ? one.answer : one.error))).to.eql([6, 60]);
  });

  it('fails with a sentence for members, and reveals nothing else', async () => {
    await using database = await testDatabase();
    await using first = await hostOn(database, 0, 1);
    await first.channel.open();
    first.channel.answer(double, async (n) => {
      if (n === 1) throw new UserError('Not that one.');
      throw new Error('/home/secret/path');
    });
    expect(await first.channel.ask(0, double, 1, SOON).catch((error: unknown) => error))
      .to.be.instanceOf(UserError)
      .with.property('message', 'Not that one.');
    expect(String(await first.channel.ask(0, double, 2, SOON).catch((error: unknown) => error))).not.to.include(
      'secret',
    );
  });

  it('waits for the next host of the group until the deadline, and is not carried out after it', async () => {
    await using database = await testDatabase();
    await using first = await hostOn(database, 0, 1);
    await first.channel.open();
    const waiting = first.channel.ask(1, double, 5, SOON);
    await failure('CINNABAR_CLUSTER_NOT_SERVED', () => first.channel.ask(1, double, 7, { deadlineMs: 50 }));
    const carriedOut: number[] = [];
    await using second = await hostOn(database, 1, 1);
    second.channel.answer(double, async (n) => {
      carriedOut.push(n);
      return 2 * n;
    });
    await second.channel.open();
    expect(await waiting).to.equal(10);
    expect(carriedOut).to.eql([5]);
  });

  it('is given up early unless a process begins it, and may then take long', async () => {
    await using database = await testDatabase();
    await using first = await hostOn(database, 0, 1);
    await first.channel.open();
    const options = { deadlineMs: 600_000, begunMs: 1_000 };
    await failure('CINNABAR_CLUSTER_NOT_SERVED', () => first.channel.ask(1, double, 7, { ...options, begunMs: 50 }));
    await using second = await hostOn(database, 1, 1);
    second.channel.answer(double, async (n) => {
      await new Promise((resolve) => setTimeout(resolve, options.begunMs));
      return 2 * n;
    });
    await second.channel.open();
    expect(await first.channel.ask(1, double, 5, options)).to.equal(10);
  });

  it('fails when its execution exceeds the time limit', async () => {
    await using database = await testDatabase();
    await using first = await hostOn(database, 0, 1);
    await first.channel.open();
    first.channel.answer(double, () => new Promise(() => undefined));
    await failure('CINNABAR_CLUSTER_NO_ANSWER', () => first.channel.ask(0, double, 7, { deadlineMs: 500 }));
  });

  it('is carried out once, by the holder of the lease, although other processes receive it', async () => {
    await using database = await testDatabase();
    await using asker = await hostOn(database, 0, 1);
    await asker.channel.open();
    const carriedOut: string[] = [];
    await using former = await hostOn(database, 1, 1);
    former.channel.answer(double, async (n) => {
      carriedOut.push('former');
      return n;
    });
    await former.channel.open();
    await using present = await hostOn(database, 1, 2);
    present.channel.answer(double, async (n) => {
      carriedOut.push('present');
      return 2 * n;
    });
    await present.channel.open();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => asker.channel.ask(1, double, n, SOON)));
    expect(answers).to.eql(Array.from({ length: 20 }, (_, n) => 2 * n));
    expect(carriedOut).to.eql(Array.from({ length: 20 }, () => 'present'));
  });

  it('fails as soon as the group has its next host, when the executing host is gone', async () => {
    await using database = await testDatabase();
    await using asker = await hostOn(database, 0, 1);
    await asker.channel.open();
    await using former = await hostOn(database, 1, 1);
    const begun = new Promise<void>((resolve) => {
      former.channel.answer(double, () => {
        resolve();
        return new Promise(() => undefined);
      });
    });
    await former.channel.open();
    const lost = failure('CINNABAR_CLUSTER_NO_ANSWER', () => asker.channel.ask(1, double, 5, { deadlineMs: 600_000 }));
    await begun;
    const carriedOut: number[] = [];
    await using next = await hostOn(database, 1, 2);
    next.channel.answer(double, async (n) => carriedOut.push(n));
    await next.channel.open();
    await lost;
    expect(carriedOut).to.eql([]);
  });
});
