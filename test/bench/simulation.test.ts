import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type LocalChannel, type LocalDiscord, type LocalGuild, startLocalDiscord } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { describePostgres, type TestServer, testServer } from '../support/postgres.js';
import { type BotProcess, startBot } from './bot-process.js';
import { divided } from './divided.js';
import { createChance } from './memory/chance.js';
import type { Cost, Costs } from './simulation/costs.js';
import { simulateTraffic } from './simulation/traffic.js';

const PROCESSES = 3;
/** The default number of groups of a cluster, with one shard each. */
const GROUPS = 4;
const GUILDS = 12;
const SECONDS = 5;
const STEP_MS = 10;
const MESSAGES_PER_SECOND = 100;
const COMMANDS_PER_SECOND = 8;
const CHANGES_PER_SECOND = 6;
/** Tolerance of the simulation: with other load on the machine, a real database is slower and stores the progress of shards less often. */
const FACTOR = 2;

describePostgres('the simulation of a large cluster', () => {
  it('computes as many writes for three processes as three real ones make under the same traffic', async function () {
    this.timeout(120_000);
    const real = await playReal();
    const simulated = await simulateTraffic(
      {
        machines: PROCESSES,
        groups: GROUPS,
        shards: GROUPS,
        guilds: GUILDS,
        eventsPerShard: real.events / SECONDS / GROUPS,
        commandShare: real.commands / real.events,
        changingShare: real.changes / real.events,
        interactionShare: 0,
        documentsPerCommand: 0,
        linesPerCommand: 0,
      },
      { costs: CHEAP, cores: 2, flushMs: 1, announceMs: 1, networkMs: 1 },
      SECONDS * 4,
    );
    const { session, guild, claim, 'claim-end': ended } = simulated.perSecond;
    const writes = [
      ['sessions', session, real.sessions],
      ['guilds', guild, real.guilds],
      ['claims', claim + ended, real.claims],
    ] as const;
    for (const [what, ours, counted] of writes)
      expect(ours, `${what} written in a second`).to.be.within(
        counted / SECONDS / FACTOR,
        (counted / SECONDS) * FACTOR,
      );
  });
});

const cheap: Cost = { cpuMs: 0.5, walBytes: 0, isWrite: true, isAnnounced: false };
const CHEAP: Costs = {
  session: cheap,
  guild: cheap,
  snapshot: { ...cheap, isWrite: false },
  claim: cheap,
  'claim-end': cheap,
  document: cheap,
  line: cheap,
  budget: cheap,
};

/** The number of writes according to the database. */
interface Written {
  readonly sessions: number;
  readonly guilds: number;
  readonly claims: number;
  /** The number of events that the shards have advanced. */
  readonly events: number;
}

interface Said {
  readonly commands: number;
  readonly changes: number;
}

/** Some seconds of traffic at three processes. */
async function playReal(): Promise<Written & Said> {
  await using database = await testServer();
  const discord = await startLocalDiscord({ shards: GROUPS });
  const folders: string[] = [];
  const bots: BotProcess[] = [];
  try {
    const { application, play } = await createWorld(discord);
    for (let index = 0; index < PROCESSES; index++) {
      const folder = mkdtempSync(join(tmpdir(), 'cinnabar-simulation-'));
      folders.push(folder);
      const env = { DATABASE_URL: database.url, CINNABAR_MEMBER: `process-${index}` };
      bots.push(await startBot('cinnabar', discord, application, folder, env, ['start', '--cluster']));
    }
    await divided(database, PROCESSES, GROUPS);
    const before = await atRest(database);
    const said = await play();
    const after = await atRest(database);
    return {
      sessions: after.sessions - before.sessions,
      guilds: after.guilds - before.guilds,
      claims: after.claims - before.claims,
      events: after.events - before.events,
      ...said,
    };
  } finally {
    await Promise.allSettled(bots.map((bot) => bot.stop()));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    await discord.close();
  }
}

interface Place {
  readonly guild: LocalGuild;
  readonly channel: LocalChannel;
}

async function createWorld(discord: LocalDiscord) {
  const owner = discord.createUser({ name: 'owner' });
  const application = discord.createApplication({ name: 'Bot', owner });
  const guilds: Place[] = [];
  for (let index = 0; index < GUILDS; index++) {
    const guild = discord.createGuild({ name: `Server ${index}`, owner });
    guild.invite(application);
    guilds.push({ guild, channel: guild.createChannel({ name: 'general' }) });
    // A server's shard depends on the millisecond of its creation.
    await wait(2);
  }
  const chance = createChance(1);
  /** @returns how often the operation was executed */
  const inStep = (perSecond: number, task: (place: Place) => unknown): number => {
    const isDone = chance.happens((perSecond * STEP_MS) / 1_000);
    if (isDone) task(chance.pick(guilds));
    return Number(isDone);
  };
  return {
    application,
    async play(): Promise<Said> {
      const started = performance.now();
      let commands = 0;
      let changes = 0;
      for (let step = 1; step <= (SECONDS * 1_000) / STEP_MS; step++) {
        inStep(MESSAGES_PER_SECOND, ({ channel }) => owner.say(channel, 'hello, an ordinary message'));
        commands += inStep(COMMANDS_PER_SECOND, ({ channel }) => owner.say(channel, '!pong'));
        changes += inStep(CHANGES_PER_SECOND, ({ guild }) => guild.createRole({ name: 'new' }));
        await wait(Math.max(0, started + step * STEP_MS - performance.now()));
      }
      return { commands, changes };
    },
  };
}

/** Longer than the delay of PostgreSQL's statistics. */
const COUNTED_AFTER_MS = 1_200;

/** The writes so far, once there are no further ones. */
async function atRest(database: TestServer): Promise<Written> {
  for (let last = await writtenIn(database); ; ) {
    await wait(COUNTED_AFTER_MS);
    const now = await writtenIn(database);
    if (now.sessions === last.sessions && now.claims === last.claims && now.guilds === last.guilds) return now;
    last = now;
  }
}

async function writtenIn(database: TestServer): Promise<Written> {
  const rows = await database.query(
    `SELECT relname AS name, n_tup_ins + n_tup_upd AS count FROM pg_stat_user_tables WHERE schemaname = 'cinnabar'`,
  );
  const of = (table: string) => Number(rows.find(({ name }) => name === table)?.count ?? 0);
  const [shards] = await database.query('SELECT sum(sequence) AS events FROM cinnabar.shard_sessions');
  return {
    sessions: of('shard_sessions'),
    guilds: of('guild_snapshots'),
    claims: of('claims'),
    events: Number(shards?.events),
  };
}
