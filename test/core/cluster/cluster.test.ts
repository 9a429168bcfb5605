import type { CinnabarError } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { clusterProcess, type Leases, type OpenHost, shareOfGroups } from '../../support/cluster-process.js';
import { failure } from '../../support/codes.js';
import { describePostgres, type TestDatabase, testDatabase, testServer } from '../../support/postgres.js';

const GROUPS = 6;

/** The leases of one process of a cluster; the test moves its clock. */
async function processOn(place: TestDatabase, id: string) {
  const process = clusterProcess(place);
  await process.open();
  let now = 0;
  const leases = await process.leases(id, { groups: GROUPS, elapsed: () => [now] });
  return {
    ...process,
    leases,
    pass(ms: number) {
      now += ms;
    },
    beat: (state = {}) => leases.beat({ isDraining: false, isConnected: true, ...state }),
  };
}

const taken = async <T>(lease: Promise<T | undefined>) => {
  const found = await lease;
  if (found === undefined) throw new Error('it was not free');
  return found;
};
/** Ages all stored times by this duration. */
const letPass = (database: TestDatabase, ms: number) =>
  database.query(`UPDATE ${database.schema}.leases SET until = until - $1 * interval '1 ms'`, [ms]);

describePostgres('cluster: leases', () => {
  it('are held by one process at a time, each time with a greater token', async () => {
    await using database = await testDatabase();
    await using one = await processOn(database, 'one');
    await using other = await processOn(database, 'other');
    const both = await Promise.all([one.leases.take(3), other.leases.take(3)]);
    const [first] = both.filter((lease) => lease !== undefined);
    expect(both.filter((lease) => lease === undefined)).to.have.length(1);
    expect(first?.token).to.equal(1n);
    await letPass(database, 6_001);
    const again = await Promise.all([one.leases.take(3), other.leases.take(3)]);
    expect(again.flatMap((lease) => lease?.token ?? [])).to.eql([2n]);
  });

  it('are void for their holder before they are free for others, and go on after a renewal in time', async () => {
    await using database = await testDatabase();
    await using one = await processOn(database, 'one');
    const lease = await taken(one.leases.take(0));
    one.pass(5_400);
    expect(lease.isHeld()).to.equal(true);
    one.pass(100);
    expect(lease.isHeld()).to.equal(false);
    let isOn = false;
    const waiting = lease.held().then(() => {
      isOn = true;
    });
    await one.beat();
    await waiting;
    expect([isOn, lease.isHeld(), lease.token]).to.eql([true, true, 1n]);
  });

  it('are lost for good once another process has taken them', async () => {
    await using database = await testDatabase();
    await using one = await processOn(database, 'one');
    await using other = await processOn(database, 'other');
    const lease = await taken(one.leases.take(0));
    one.pass(7_000);
    await letPass(database, 7_000);
    const waiting = failure('CINNABAR_LEASE_LOST', () => lease.held());
    const next = await taken(other.leases.take(0));
    await one.beat();
    expect(lease.lost.aborted).to.equal(true);
    await waiting;
    expect(lease.isHeld()).to.equal(false);
    expect(next.isHeld()).to.equal(true);
  });

  it('that were released are free at once, for the first requester', async () => {
    await using database = await testDatabase();
    await using one = await processOn(database, 'one');
    await using other = await processOn(database, 'other');
    await using third = await processOn(database, 'third');
    const lease = await taken(one.leases.take(2));
    for (const each of [one, other, third]) await each.beat();
    await other.leases.want(2);
    await third.leases.want(2);
    await one.leases.release(lease, 'rebalanced');
    expect(lease.lost.aborted).to.equal(true);
    expect(await third.leases.take(2)).to.equal(undefined);
    expect((await taken(other.leases.take(2))).token).to.equal(3n);
  });

  it('whose holder had lost only its database connection are not taken by a process that had lost it as well', async () => {
    await using database = await testDatabase();
    await using one = await processOn(database, 'one');
    await using other = await processOn(database, 'other');
    await taken(one.leases.take(0));
    for (const each of [one, other]) await each.beat();
    await letPass(database, 10_000);
    other.pass(10_000);
    const { leases } = await other.beat();
    expect(leases.find(({ group }) => group === 0)?.isFree).to.equal(false);
    other.pass(3_001);
    expect((await other.beat()).leases.find(({ group }) => group === 0)?.isFree).to.equal(true);
  });

  it('that were taken without the answer having arrived run out', async () => {
    await using database = await testDatabase();
    await using one = await processOn(database, 'one');
    await taken(one.leases.take(0));
    await using same = await processOn(database, 'one');
    await letPass(database, 6_001);
    const { leases } = await same.beat();
    expect(leases.find(({ group }) => group === 0)?.isFree).to.equal(true);
  });
});

describe('cluster: the groups of a process that died', () => {
  /** One process beside a dead one whose lease ends after the given time. Resolves with the times of its look-ups and of its attempt to take the lease. */
  const watch = async (endsAfterMs: number, isAway: (look: number) => boolean = () => false) => {
    const clock = createManualClock();
    const start = clock.now();
    const looks: number[] = [];
    const takes: number[] = [];
    const none = async () => undefined;
    const cluster = shareOfGroups({
      leases: {
        memberId: 'one',
        async beat() {
          looks.push(clock.now() - start);
          if (isAway(looks.length)) throw new Error('the database is away');
          const endsInMs = Math.max(0, start + endsAfterMs - clock.now());
          const lease = { group: 0, token: 1n, holder: 'dead', isFree: endsInMs === 0, endsInMs, isReady: true };
          const member = {
            id: 'one',
            name: 'one',
            version: '1',
            isAlive: true,
            isDraining: false,
            isConnected: true,
            startedAt: 0,
            endsWhenAsked: true,
            endAsked: undefined,
          };
          return { members: [member], leases: [{ ...lease, wantedBy: undefined }] };
        },
        async take() {
          takes.push(clock.now() - start);
          return none();
        },
        ready: none,
        want: none,
        release: none,
        prepare: none,
        leave: none,
      },
      groups: 1,
      clock,
      open: () => {
        throw new Error('nothing was taken');
      },
      onNews: () => () => undefined,
    });
    await cluster.start();
    while (takes.length === 0) {
      clock.advance(10);
      await new Promise(setImmediate);
    }
    await cluster.stop();
    return { looks: looks.slice(0, -1), takenAt: takes[0] };
  };

  it('are searched for when they become free, while leases are renewed as usual', async () => {
    expect(await watch(2_700)).to.deep.equal({ looks: [0, 2_000, 2_720], takenAt: 2_720 });
  });

  it('are not requested continuously while the database is unreachable', async () => {
    const { looks } = await watch(500, (look) => look > 1 && look < 4);
    expect(looks).to.deep.equal([0, 520, 2_520, 4_520]);
  });
});

describePostgres('cluster: its layout', () => {
  it('keeps the groups of its first start, and follows the shards that Discord recommends while it stands still', async () => {
    await using database = await testDatabase();
    await using one = await processOn(database, 'one');
    expect(await one.layout(4, 1)).to.eql({ groups: 4, shardCount: 4 });
    expect(await one.layout(8, 5)).to.eql({ groups: 4, shardCount: 8 });
    await one.beat();
    expect(await one.layout(8, 16)).to.eql({ groups: 4, shardCount: 8 });
  });
});

/** Hosts that record their life cycle. */
function scriptedHosts() {
  const events: string[] = [];
  const serving = new Map<number, string>();
  let gate: Promise<void> | undefined;
  let held = 0;
  return {
    events,
    serving,
    /** Blocks all starts until the returned function is called. */
    holdStarts(): () => void {
      let open: () => void = () => undefined;
      gate = new Promise((resolve) => {
        open = resolve;
      });
      return () => open();
    },
    held: () => held,
    open:
      (who: string): OpenHost =>
      (partition, lease) => ({
        async start() {
          held += gate === undefined ? 0 : 1;
          await gate;
          if (serving.has(partition.group))
            events.push(`${who} began ${partition.group} while ${serving.get(partition.group)} serves it`);
          serving.set(partition.group, who);
        },
        async stop() {
          if (lease.lost.aborted) events.push(`${who} lost ${partition.group}`);
          serving.delete(partition.group);
        },
        notConnectedSince: undefined,
        ended: new Promise<CinnabarError>(() => undefined),
      }),
  };
}

describePostgres('cluster: processes', () => {
  /** Uses the real clock, because leases pass between processes by notifications, not by time. */
  async function memberOn(
    database: TestDatabase,
    id: string,
    hosts: ReturnType<typeof scriptedHosts>,
    over: (leases: Leases) => Leases = (leases) => leases,
  ) {
    const process = await processOn(database, id);
    const cluster = shareOfGroups({
      leases: over(process.leases),
      groups: GROUPS,
      open: hosts.open(id),
      onNews: process.onNews,
    });
    return {
      cluster,
      wake: process.announce,
      async [Symbol.asyncDispose]() {
        await cluster.stop();
        await process[Symbol.asyncDispose]();
      },
    };
  }
  const settled = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise(setImmediate);
  };

  it('divide the groups evenly, one after the other, and take over what a leaving one hands over', async () => {
    await using database = await testDatabase();
    const hosts = scriptedHosts();
    const of = (who: string) => [...hosts.serving.values()].filter((one) => one === who).length;
    await using one = await memberOn(database, 'one', hosts);
    await one.cluster.start();
    await settled(() => of('one') === GROUPS);
    {
      await using other = await memberOn(database, 'other', hosts);
      await other.cluster.start();
      await settled(() => of('one') === 3 && of('other') === 3);
      await one.cluster.stop();
      await settled(() => of('other') === GROUPS);
    }
    expect(hosts.events).to.eql([]);
  });

  it('hand over the next group once the one before is served again', async () => {
    await using database = await testDatabase();
    const hosts = scriptedHosts();
    await using one = await memberOn(database, 'one', hosts);
    await one.cluster.start();
    await settled(() => hosts.serving.size === GROUPS);
    {
      await using second = await memberOn(database, 'second', hosts);
      await using third = await memberOn(database, 'third', hosts);
      await Promise.all([second.cluster.start(), third.cluster.start()]);
      const groupsOf = ({ cluster }: typeof one) => cluster.groups.length;
      await settled(() => [one, second, third].every((each) => groupsOf(each) === 2) && hosts.serving.size === GROUPS);
      const release = hosts.holdStarts();
      const stopped = one.cluster.stop();
      const isWanted = () =>
        one.cluster.view.leases.some(({ holder, wantedBy }) => holder === 'one' && wantedBy !== undefined);
      await settled(() => hosts.held() === 1 && isWanted());
      const seen = one.cluster.view;
      await one.wake();
      await settled(() => one.cluster.view !== seen);
      expect(hosts.serving.size).to.equal(GROUPS - 1);
      release();
      await stopped;
      await settled(() => hosts.serving.size === GROUPS);
    }
    expect(hosts.events).to.eql([]);
  });

  it('report again which groups they serve when the database was unreachable at that moment', async () => {
    await using database = await testDatabase();
    const hosts = scriptedHosts();
    let failures = 1;
    await using one = await memberOn(database, 'one', hosts, (leases) => ({
      ...leases,
      async ready(lease) {
        failures -= 1;
        if (failures >= 0) throw new Error('the database is away');
        await leases.ready(lease);
      },
    }));
    await one.cluster.start();
    await settled(() => one.cluster.view.leases.filter(({ isReady }) => isReady).length === GROUPS);
  });

  it('go on when the database comes back', async () => {
    await using server = await testServer();
    const hosts = scriptedHosts();
    await using one = await memberOn(server, 'one', hosts);
    await one.cluster.start();
    await settled(() => hosts.serving.size === GROUPS);
    await server.kill();
    await server.start();
    const { leases } = one.cluster.view;
    await settled(() => one.cluster.view.leases !== leases && one.cluster.view.leases.length === GROUPS);
    expect([hosts.serving.size, hosts.events]).to.eql([GROUPS, []]);
  });
});
