import { setImmediate as immediate } from 'node:timers/promises';
import { createSystemClock } from '@cinnabar/core';
import { startLocalDiscord } from '@cinnabar/local-discord';
import type { Clock } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { DefaultRestOptions, REST, Routes } from 'discord.js';
import { clusterProcess } from '../../support/cluster-process.js';
import { describePostgres, type TestDatabase, testDatabase } from '../../support/postgres.js';
import { fairly, sharedIdentifyLimits } from '../gateway/harness.js';

const PROCESSES = 3;
const REQUESTS = 180;
/** Discord's limit for a bot. */
const REQUESTS_PER_SECOND = 50;
/** Number of slash command lists that are synced at once, and then per second. */
const BURST = 30;
const A_SECOND = 5;

async function processesOn(place: TestDatabase, clock: Clock = createSystemClock()) {
  const processes = Array.from({ length: PROCESSES }, () => clusterProcess(place, { poolSize: 2, clock }));
  for (const process of processes) await process.open();
  return {
    limits: processes.map((process) => process.limits()),
    paces: processes.map((process) => process.slashPace()),
    async [Symbol.asyncDispose]() {
      for (const process of processes) await process.close();
    },
  };
}

/** Ends a span of time of a limit, which the database measures. */
const endSpan = ({ query, schema }: TestDatabase, name: string) =>
  query(`UPDATE ${schema}.limits SET until = now() WHERE name = $1`, [name]);

describePostgres('cluster: limits of Discord', () => {
  it('of requests a second are kept by all processes together: there is no 429', async () => {
    await using place = await testDatabase();
    const clock = createManualClock();
    await using processes = await processesOn(place, clock);
    await using discord = await startLocalDiscord({ rateLimits: 'strict', clock });
    const owner = discord.createUser({ name: 'you' });
    const application = discord.createApplication({ name: 'Cinnabar', owner });
    const guild = discord.createGuild({ name: 'Night City', owner });
    guild.invite(application);
    const channels = Array.from({ length: REQUESTS }, (_, index) => guild.createChannel({ name: `channel-${index}` }));
    const clients = processes.limits.map(({ requests }) =>
      new REST({
        api: discord.api,
        globalRequestsPerSecond: Number.MAX_SAFE_INTEGER,
        makeRequest: fairly(requests, DefaultRestOptions.makeRequest),
      }).setToken(application.token),
    );
    const unanswered = clients.map(() => 0);
    const answers = channels.map(async ({ id }, index) => {
      const process = index % clients.length;
      unanswered[process] = (unanswered[process] ?? 0) + 1;
      await clients[process]?.get(Routes.channel(id));
      unanswered[process] = (unanswered[process] ?? 0) - 1;
    });
    const isQuiet = () => clock.pending === unanswered.filter((count) => count > 0).length;
    for (;;) {
      while (!isQuiet()) await immediate();
      await discord.settled();
      if (!isQuiet()) continue;
      if (clock.pending === 0) break;
      await endSpan(place, 'requests');
      clock.advance(1_100);
    }
    await Promise.all(answers);
    expect(discord.requests.all.filter(({ status }) => status === 429)).to.deep.equal([]);
    expect(discord.requests.all).to.have.length(REQUESTS);
    const seconds = new Set(discord.requests.all.map(({ at }) => at));
    expect(seconds.size).to.be.at.least(REQUESTS / REQUESTS_PER_SECOND);
  });

  it('of slash commands: the hosts of all groups bring no more lists in line than one bot alone', async () => {
    await using place = await testDatabase();
    const clock = createManualClock();
    await using processes = await processesOn(place, clock);
    const stopping = new AbortController();
    let passed = 0;
    const hosts = processes.paces.map(async (pace) => {
      while (await pace(stopping.signal)) passed += 1;
    });
    const whenAllWait = async () => {
      while (clock.pending < PROCESSES) await immediate();
    };
    // The first second has its own lists, too.
    for (let lists = BURST + A_SECOND; lists <= BURST + 3 * A_SECOND; lists += A_SECOND) {
      await whenAllWait();
      expect(passed).to.equal(lists);
      await endSpan(place, 'slash-pace');
      clock.advance(1_000);
    }
    stopping.abort();
    await Promise.all(hosts);
  });

  it('are left to the others where a process has no request for them', async () => {
    await using place = await testDatabase();
    await using processes = await processesOn(place);
    const [one, other] = processes.limits;
    await new Promise<void>((resolve) => one?.requests.whenMore(1, resolve));
    expect(one?.requests.take()).to.equal(true);
    const rest = await other?.take('requests', REQUESTS, { left: REQUESTS_PER_SECOND, lastsMs: 1_000 });
    expect(rest?.granted).to.equal(REQUESTS_PER_SECOND - 1);
  });

  it('are taken by one process where there is one, and say when there is more', async () => {
    await using place = await testDatabase();
    await using processes = await processesOn(place);
    const taken = await Promise.all(
      processes.limits.map((limits) => limits.take('identify 0', 1, { left: 1, lastsMs: 60_000 })),
    );
    expect(taken.map(({ granted }) => granted).sort()).to.deep.equal([0, 0, 1]);
    for (const { endsInMs } of taken) expect(endsInMs).to.be.within(1, 60_000);
    await place.query(`UPDATE ${place.schema}.limits SET until = now()`);
    const [first] = processes.limits;
    expect((await first?.take('identify 0', 1, { left: 1, lastsMs: 60_000 }))?.granted).to.equal(1);
  });

  it('of a day count what others than the cluster have used, and what was given back', async () => {
    await using place = await testDatabase();
    await using processes = await processesOn(place);
    const [one, other] = processes.limits;
    const take = async (limits: typeof one, left: number) =>
      (await limits?.take('sessions', 1, { left, lastsMs: 60_000 }))?.granted;
    expect([await take(one, 3), await take(other, 3), await take(one, 3), await take(other, 3)]).to.deep.equal([
      1, 1, 1, 0,
    ]);
    await one?.giveBack('sessions');
    expect([await take(other, 0), await take(other, 1)]).to.deep.equal([0, 1]);
  });
});

describe('sessions of a cluster', () => {
  it('are opened in turns, which are asked for again when the last one has ended', async () => {
    const clock = createManualClock();
    const asked: string[] = [];
    let isFree = false;
    const gateway = {
      url: '',
      shards: 16,
      session_start_limit: { total: 1_000, remaining: 7, reset_after: 5, max_concurrency: 4 },
    };
    const turns = sharedIdentifyLimits({
      limits: {
        async take(name) {
          asked.push(name);
          return isFree ? { granted: 1, endsInMs: 5_000 } : { granted: 0, endsInMs: 3_000 };
        },
        giveBack: async () => undefined,
      },
      information: { get: async () => gateway, refreshed: async () => gateway, askAgain: async () => gateway },
      clock,
    });
    const turn = turns.turn(9, new AbortController().signal);
    while (clock.pending === 0) await immediate();
    isFree = true;
    clock.advance(3_000);
    expect(await turn).to.equal(true);
    expect(asked).to.deep.equal(['identify 1', 'identify 1']);
  });
});
