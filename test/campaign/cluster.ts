import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type LocalChannel, startLocalDiscord } from '@cinnabar/local-discord';
import { testServer } from '../support/postgres.js';
import { isAnswered, judge, nothingKnown } from './cluster/judge.js';
import { type ClusterProcess, DISCORD_NAME, startMember } from './cluster/member.js';
import { type Asked, startTraffic } from './cluster/traffic.js';
import { takeWritten, watchWrites } from './cluster/witness.js';
import type { CampaignOptions, CampaignResult } from './main.js';
import { type Chance, createChance } from './settings/chance.js';

const SHARDS = 16;
const GROUPS = 8;
const GUILDS = 200;
const MEMBERS = 3;
/** Number of simultaneous messages, and the longest time between them and the fault: the commands run, and not all events are stored. */
const BURST = { least: 40, most: 120 } as const;
const BURST_MS = 150;
/** The default schema of the program. */
const SCHEMA = 'cinnabar';
const PATIENCE_MS = 60_000;
const POLL_MS = 50;
/** Listeners receive an event slightly later than commands. */
const HEARD_MS = 5_000;
/** Duration for which a process is stopped, or disconnected. */
const STOPPED_MS = 30_000;
const CUT_OFF_MS = 15_000;
/** Time until 95 % of the groups of a process answer again. */
const AIM_KILLED_MS = 10_000;
const AIM_DRAINED_MS = 2_000;
const ENOUGH_TIMES = 20;

const FAULTS = [
  'kill',
  'zombie',
  'without database',
  'without Discord',
  'database restarts',
  'rolling upgrade',
  'joins',
  'drains',
] as const;
type Fault = (typeof FAULTS)[number];
/** Set `CAMPAIGN_FAULTS=kill,drains` to run only these faults. */
const WANTED = FAULTS.filter((fault) => (process.env.CAMPAIGN_FAULTS ?? fault).split(',').includes(fault));
/** Faults in which no process fails: processes hand their groups over. */
const HAND_OVERS: ReadonlySet<Fault> = new Set(['rolling upgrade', 'joins', 'drains']);

/** Three processes of one bot in 200 servers under traffic, with faults of every kind in each: people have to read correct answers. */
export async function clusterCampaign({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const chance = createChance(seed);
  await using stage = await openStage(chance);
  const violations: string[] = [];
  const counts: Record<string, number> = { rounds: 0, 'commands and effects judged': 0 };
  const killed: number[] = [];
  const drained: number[] = [];
  const known = nothingKnown();
  const count = (what: string, by: number) => {
    counts[what] = (counts[what] ?? 0) + by;
  };

  for (let round = 0; round < rounds; round += 1) {
    const fault = WANTED[(round + seed) % WANTED.length] ?? 'kill';
    if (!(await stage.isWhole())) {
      violations.push(`round ${round}: the cluster did not become whole: ${stage.said()}`);
      break;
    }
    if (round === 0) await stage.watch();
    stage.traffic.resume();
    await wait(1_000 + chance.below(1_000));
    // The fault occurs while commands run.
    stage.traffic.burst(BURST.least + chance.below(BURST.most - BURST.least));
    await wait(chance.below(BURST_MS));
    const answeredAgain = await strike(fault, stage, chance);
    if (!(await stage.isWhole())) {
      violations.push(`round ${round} (${fault}): the cluster did not become whole again: ${stage.said()}`);
      break;
    }
    await wait(500);
    stage.traffic.pause();
    await stage.until(() => stage.traffic.asked.every(isAnswered));
    const unheard = () => stage.traffic.asked.filter(({ kind, answers }) => kind === 'mark' && answers.length === 0);
    await stage.until(() => unheard().length === 0, HEARD_MS);
    await stage.discord.settled();
    const { asked } = stage.traffic;
    const written = await stage.written();
    const found = [
      ...judge(asked, known, await stage.stored(), HAND_OVERS.has(fault)),
      ...written.byVoidLeases.map(
        ({ table, group, writer, holder }) => `${writer} wrote to ${table} for group ${group}, which ${holder} held`,
      ),
    ];
    violations.push(...found.map((text) => `round ${round} (${fault}): ${text}`));
    for (const text of found) log(`  ${text}`);
    if (found.length > 0) log(stage.said());
    const times = answeredAgain(asked);
    if (fault === 'kill') killed.push(...times);
    if (fault === 'drains' || fault === 'rolling upgrade') drained.push(...times);
    log(
      `round ${round}: ${fault}: ${asked.length} judged, ${found.length} violations${times.length === 0 ? '' : `; by group, people waited at most ${times.join(', ')} ms`}`,
    );
    count('rounds', 1);
    count('commands and effects judged', asked.length);
    count('slash commands that Discord said had no response', asked.filter(isRefusedByDiscord).length);
    count('effects that a failure kept from happening', unheard().length);
    count('writes of which the holder of the lease was noted', written.writes);
    count('writes by a void lease', written.byVoidLeases.length);
    count('writes after the time of a lease that nobody else had', written.late);
    count(fault, 1);
    stage.traffic.forget();
  }
  judgeTimes('killed', killed, AIM_KILLED_MS, { counts, violations });
  judgeTimes('drained', drained, AIM_DRAINED_MS, { counts, violations });
  return { counts, violations };
}

const isRefusedByDiscord = ({ answers, interaction }: Asked) => answers.length === 0 && interaction !== undefined;

function judgeTimes(
  what: string,
  times: readonly number[],
  aim: number,
  { counts, violations }: { readonly counts: Record<string, number>; readonly violations: string[] },
): void {
  if (times.length === 0) return;
  const p95 = [...times].sort((one, other) => one - other)[Math.ceil(times.length * 0.95) - 1] ?? 0;
  counts[`ms until the servers of a ${what} process answer again, p95`] = p95;
  // The 95th percentile of a few values is their maximum, which depends on the machine.
  if (times.length >= ENOUGH_TIMES && p95 > aim)
    violations.push(`the servers of a ${what} process answered again after ${p95} ms (p95), more than ${aim}`);
}

type Stage = Awaited<ReturnType<typeof openStage>>;
type AnsweredAgain = (asked: Stage['traffic']['asked']) => readonly number[];

/** Causes a fault, and repairs it as an operator would. @returns a function that gives the times until the affected groups answered again */
async function strike(fault: Fault, stage: Stage, chance: Chance): Promise<AnsweredAgain> {
  const victim = stage.members[chance.below(stage.members.length)];
  if (victim === undefined) throw new Error('there is no process');
  const groups = await stage.groupsOf(victim);
  const at = Date.now();
  /** By group: the longest wait of all requests since the fault. */
  const again: AnsweredAgain = (asked) =>
    groups.flatMap((group) => {
      const waits = asked
        .filter((one) => one.at >= at && one.kind !== 'mark' && stage.groupOf(one.channel) === group)
        .flatMap((one) => (one.answers[0] === undefined ? [] : one.answers[0].at - one.at));
      return waits.length === 0 ? [] : [Math.max(...waits)];
    });
  const nothing: AnsweredAgain = () => [];
  const replace = async () => {
    await victim.gone;
    await stage.join();
  };
  switch (fault) {
    case 'kill':
      victim.signal('SIGKILL');
      await replace();
      return again;
    case 'zombie':
      victim.signal('SIGSTOP');
      await wait(STOPPED_MS);
      victim.signal('SIGCONT');
      return nothing;
    case 'without database':
      victim.database.cut(chance.pick(['refuse', 'swallow']));
      await wait(CUT_OFF_MS);
      victim.database.mend();
      return nothing;
    case 'without Discord':
      victim.discord.cut('refuse');
      await wait(CUT_OFF_MS + 10_000);
      victim.discord.mend();
      return nothing;
    case 'database restarts':
      await stage.database.kill();
      await wait(chance.below(8_000));
      await stage.database.start();
      return nothing;
    case 'rolling upgrade':
      victim.signal('SIGTERM');
      await replace();
      for (const next of stage.members.slice(0, MEMBERS - 1)) {
        await stage.isWhole();
        next.signal('SIGTERM');
        await next.gone;
        await stage.join();
      }
      return again;
    case 'joins':
      await stage.join();
      await stage.isWhole();
      return nothing;
    case 'drains':
      victim.signal('SIGTERM');
      await (stage.members.length > MEMBERS ? victim.gone : replace());
      return again;
  }
}

/** The database may be unreachable for a moment, or busy with processes that have just ended. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; ; await wait(POLL_MS)) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

async function openStage(chance: Chance) {
  const database = await testServer();
  const discord = await startLocalDiscord({ shards: SHARDS, gatewayHost: DISCORD_NAME, keepMessages: 300 });
  discord.requests.enabled = false;
  const people = discord.createUser({ name: 'people' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: people });
  const first = await addGuild(0);
  const channels: [LocalChannel, ...LocalChannel[]] = [first];
  for (let index = 1; index < GUILDS; index += 1) channels.push(await addGuild(index));
  const buildCache = mkdtempSync(join(tmpdir(), 'cinnabar-campaign-builds-'));
  const members: ClusterProcess[] = [];
  let serial = 0;

  async function addGuild(index: number): Promise<LocalChannel> {
    const guild = discord.createGuild({ name: `Server ${index}`, owner: people });
    guild.invite(application);
    // A server's shard depends on the millisecond of its creation.
    await wait(2);
    return guild.createChannel({ name: 'general' });
  }

  const until = async (isSo: () => boolean | Promise<boolean>, patienceMs = PATIENCE_MS): Promise<boolean> => {
    const end = Date.now() + patienceMs;
    while (Date.now() < end) {
      // The database may be unreachable.
      if (await Promise.resolve(isSo()).catch(() => false)) return true;
      await wait(POLL_MS);
    }
    return false;
  };
  const rows = (sql: string) => patiently(() => database.query(sql.replaceAll('$s', SCHEMA)));
  const join1 = async () => {
    serial += 1;
    members.push(
      await startMember({
        name: `m${serial}`,
        address: `127.0.0.${(serial % 200) + 2}`,
        database,
        discordPort: Number(new URL(discord.url).port),
        application,
        groups: GROUPS,
        buildCache,
        defect: process.env.CAMPAIGN_DEFECT,
      }),
    );
  };
  const groupOf = ({ guild }: LocalChannel) => Number((BigInt(guild?.id ?? 0) >> 22n) % BigInt(GROUPS));
  const stage = {
    discord,
    database,
    members,
    traffic: startTraffic({ discord, people, channels, botId: application.user.id, chance }),
    groupOf,
    join: join1,
    until,
    /** Whether every live process has its share of the groups, and serves it. */
    async isWhole() {
      for (const dead of members.filter((member) => member.isDead())) members.splice(members.indexOf(dead), 1);
      const least = Math.floor(GROUPS / members.length);
      return until(async () => {
        const held = await rows(
          'SELECT name, count(*) AS n FROM $s.leases JOIN $s.members ON id = holder WHERE until > now() AND ready_at IS NOT NULL GROUP BY name',
        );
        const numberOf = (name: string) => Number(held.find((row) => row.name === name)?.n ?? 0);
        const all = members.map(({ name }) => numberOf(name));
        return all.every((n) => n >= least) && all.reduce((sum, n) => sum + n, 0) === GROUPS;
      });
    },
    async groupsOf({ name }: ClusterProcess) {
      const held = await rows(
        `SELECT group_number FROM $s.leases JOIN $s.members ON id = holder WHERE name = '${name}'`,
      );
      return held.map((row) => Number(row.group_number));
    },
    async stored() {
      const found = await rows(
        `SELECT path, body->'data'->>'n' AS n FROM $s.documents WHERE path LIKE 'tally/collections/guild/tallies/%'`,
      );
      return new Map(found.map(({ path, n }) => [String(path).split('/').at(-1) ?? '', Number(n)]));
    },
    /** Records every write from now on. */
    watch: () => watchWrites(database, SCHEMA, GROUPS),
    written: () => patiently(() => takeWritten(database)),
    /** The latest output of the processes, and the holders of the leases. */
    said: () =>
      members.map((member) => `--- ${member.name}\n${member.said().split('\n').slice(-40).join('\n')}`).join('\n'),
    async [Symbol.asyncDispose]() {
      stage.traffic[Symbol.dispose]();
      for (const member of members) await member.dispose();
      await discord.close();
      await database[Symbol.asyncDispose]();
      rmSync(buildCache, { recursive: true, force: true });
    },
  };
  for (let index = 0; index < MEMBERS; index += 1) await join1();
  return stage;
}
