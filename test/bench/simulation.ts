import { testServer } from '../support/postgres.js';
import { type Figure, found, limit, median, percentile } from './report.js';
import { type Measured, measureCosts, OPERATIONS, type Operation } from './simulation/costs.js';
import { type Membership, measureMembership } from './simulation/membership.js';
import { heapOfGuild } from './simulation/memory.js';
import { type Plant, type Simulated, simulateTraffic, type Traffic } from './simulation/traffic.js';

/**
 * A bot that is too large for this machine. Discord recommends one shard per 1,000 guilds; the number of shards is a multiple of the groups. The behaviour of
 * members is assumed.
 */
const LARGE: Traffic = {
  machines: 40,
  groups: 120,
  shards: 120,
  guilds: 100_000,
  eventsPerShard: 150,
  changingShare: 0.02,
  commandShare: 0.005,
  interactionShare: 0.6,
  documentsPerCommand: 1,
  linesPerCommand: 2,
};
/** The database has a separate server, in the same data centre. */
const CORES = 8;
const NETWORK_MS = 0.5;
const SECONDS = 10;
/** A multiple of the traffic, with commands whose responses Discord does not count towards the limits; otherwise Discord's limits would determine the delay. */
const MORE = [2, 4, 8] as const;
/** Disks across a network. */
const SLOW_FLUSH_MS = 5;
/** Time limit of a takeover, as in the campaign `cluster` with 200 servers. */
const TAKEN_OVER_S = 10;
const WHAT: Readonly<Record<Operation, string>> = {
  session: 'how far the shards of a group have come',
  guild: 'a guild that has changed, stored with that',
  snapshot: 'a guild that has changed, read before',
  claim: 'a command that is begun',
  'claim-end': 'a command that is done',
  document: 'a document that all hear of',
  line: 'a line of a journal',
  budget: 'some of the requests that Discord admits',
};
/** A host's start without its guilds, as measured by `npm run bench -- scale`. */
const HOST_STARTS_MS = 1_000;
/** The size of `exampleGuild`. */
const ORDINARY = { channels: 30, roles: 20 };
const KIB = 1_024;
const MIB = KIB * KIB;

/** Computes the load of one database by 100,000 guilds on 40 machines: the bot's own code, with the measured costs of its statements on a real PostgreSQL. */
export async function* simulation(): AsyncGenerator<Figure> {
  yield found('a guild of 30 channels and 20 roles, in memory', 'KiB heap', (await heapOfGuild(ORDINARY)) / KIB);
  const measured = await withServer(measureCosts);
  yield* costFigures(measured);
  const guildsPerGroup = LARGE.guilds / LARGE.groups;
  const startMs = HOST_STARTS_MS + measured.loadedMs * guildsPerGroup;
  const membership = await withServer((server) => measureMembership(server, { ...LARGE, startMs }));
  yield* membershipFigures(membership);
  const announceMs = 1_000 / measured.announcedPerSecond;
  const plant: Plant = { ...measured, announceMs, cores: CORES, networkMs: NETWORK_MS };
  const play = async (name: string, traffic: Partial<Traffic>, differs: Partial<Plant> = {}) => {
    const simulated = await simulateTraffic({ ...LARGE, ...traffic }, { ...plant, ...differs }, SECONDS);
    return trafficFigures(name, simulated, membership, measured);
  };
  yield* await play(`${LARGE.eventsPerShard} events/s a shard`, {});
  yield* await play(
    'the same, on a disk across a network',
    {},
    {
      flushMs: SLOW_FLUSH_MS,
      announceMs: SLOW_FLUSH_MS,
    },
  );
  for (const times of MORE) {
    const eventsPerShard = LARGE.eventsPerShard * times;
    yield* await play(`${eventsPerShard} events/s a shard, interactions alone`, {
      eventsPerShard,
      interactionShare: 1,
    });
  }
}

async function withServer<T>(task: (server: Awaited<ReturnType<typeof testServer>>) => Promise<T>): Promise<T> {
  await using server = await testServer('on');
  return await task(server);
}

function* costFigures(measured: Measured): Generator<Figure> {
  const { costs, flushMs, announcedPerSecond, unannouncedPerSecond, heardUs, guildBytes, loadedMs } = measured;
  for (const operation of OPERATIONS) {
    const { cpuMs, walBytes } = costs[operation];
    yield found(`${WHAT[operation]}, of the database`, 'ms CPU', cpuMs);
    if (walBytes > 0) yield found(`${WHAT[operation]}, written to its journal`, 'KiB', walBytes / KIB);
  }
  yield found('a commit until it is on this disk', 'ms', flushMs);
  yield found('documents that all hear of, written by many at once', '1/s', announcedPerSecond);
  yield found('documents that nobody hears of, written by many at once', '1/s', unannouncedPerSecond);
  yield found('an announcement, in each host that hears it', 'µs CPU', heardUs);
  yield found('a guild of 30 channels and 20 roles, as it is stored', 'KiB', guildBytes / KIB);
  yield found('a guild read at a take-over', 'ms', loadedMs);
}

function* membershipFigures(known: Membership): Generator<Figure> {
  const { machines, groups } = LARGE;
  const who = `${machines} machines, ${groups} groups`;
  yield found(`${who}: all at once, until each group is served`, 's', known.startedMs / 1_000);
  yield found(`${who}: transactions for leases`, '1/s', known.transactionsPerSecond);
  yield found(`${who}: leases, of the database`, 'ms CPU/s', known.cpuMsPerSecond);
  yield found(`${who}: leases, written to its journal`, 'KiB/s', known.walBytesPerSecond / KIB);
  yield found(`${who}: leases, of each process`, 'ms CPU/s', known.processCpuMsPerSecond);
  const longest = Math.max(...known.takeoversMs);
  yield limit(`${who}: one dies, until the last of its groups is served`, 's', longest / 1_000, TAKEN_OVER_S);
  yield found(`${who}: announced from then on until all shares are even`, 'in all', known.announcements);
  yield found(`${who}: one ends, until others serve all of its groups`, 's', known.drainedMs / 1_000);
  const handOver = Math.max(...known.handOversMs);
  yield found(`${who}: one ends, the longest that a group is not served`, 's', handOver / 1_000);
}

function* trafficFigures(who: string, simulated: Simulated, membership: Membership, { heardUs }: Measured) {
  const { perSecond, load, seconds, commandsMs } = simulated;
  const statements = OPERATIONS.filter((operation) => operation !== 'snapshot' && operation !== 'guild');
  const writes = statements.reduce((sum, operation) => sum + perSecond[operation], 0);
  yield found(`${who}: statements that write`, '1/s', writes);
  for (const operation of OPERATIONS) yield found(`${who}: ${WHAT[operation]}`, '1/s', perSecond[operation]);
  yield found(`${who}: announcements`, '1/s', perSecond.document);
  yield found(`${who}: announcements, delivered to all processes`, '1/s', perSecond.document * LARGE.machines);
  const hostsOfOne = LARGE.groups / LARGE.machines;
  const heardMs = (perSecond.document * hostsOfOne * heardUs) / 1_000;
  yield found(`${who}: to hear of them, each process`, 'ms CPU/s', heardMs);
  const cores = (load.cpuMs / seconds + membership.cpuMsPerSecond) / 1_000;
  yield limit(`${who}: busy of the ${CORES} of the database`, 'cores', cores, CORES);
  const walMib = (load.walBytes / seconds + membership.walBytesPerSecond) / MIB;
  yield found(`${who}: written to the journal of the database`, 'MiB/s', walMib);
  const announcing = load.announcingMs / seconds / 10;
  yield limit(`${who}: commits that announce something, one at a time`, '% of the time', announcing, 100);
  yield found(`${who}: a command until it is answered, median`, 'ms', median(commandsMs));
  yield found(`${who}: a command until it is answered, p95`, 'ms', percentile(commandsMs, 95));
}
