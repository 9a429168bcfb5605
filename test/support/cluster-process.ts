import { createSystemClock, type HostConfig, type HostOptions } from '@cinnabar/core';
import { createShiftableClock } from '@cinnabar/core/internal/clock/clock';
import type { Assignment, Lease } from '@cinnabar/core/internal/cluster/assignment';
import { createClusterChannel } from '@cinnabar/core/internal/cluster/channel';
import { createClaims } from '@cinnabar/core/internal/cluster/claims';
import { createCluster } from '@cinnabar/core/internal/cluster/cluster';
import { createLeases, type LeaseOptions, newsOf } from '@cinnabar/core/internal/cluster/leases';
import { createSharedLimits } from '@cinnabar/core/internal/cluster/limits';
import { agreeOnLayout, createMember } from '@cinnabar/core/internal/cluster/member';
import { createMemberMonitoring } from '@cinnabar/core/internal/cluster/monitoring';
import { createSessionStore } from '@cinnabar/core/internal/cluster/sessions';
import { createSharedSlashPace } from '@cinnabar/core/internal/commands/slash-sync';
import { createPartition, EVERYTHING } from '@cinnabar/core/internal/gateway/partition';
import { createSessionRecorder } from '@cinnabar/core/internal/gateway/session-recorder';
import { DatabaseError } from '@cinnabar/core/internal/storage/drivers/postgres/connection';
import { type Database, openDatabase } from '@cinnabar/core/internal/storage/drivers/postgres/database';
import type { Clock, Logger } from '@cinnabar/sdk';
import { recordingLogger } from './logs.js';

/** The machine's clock, which a test can move forward for all processes that share it. */
export const movableClock = () => createShiftableClock(createSystemClock());

/** Notifies the processes of a cluster of a change, from any connection to its database. */
export const announceIn = ({ schema, query }: Pick<Database, 'schema' | 'query'>) =>
  query(`SELECT pg_notify('${newsOf(schema)}', '')`);

/** A lease that never expires. */
export function heldLease(group = 0, token = 1): Lease {
  const lost = new AbortController().signal;
  return { group, token: BigInt(token), isHeld: () => true, held: async () => undefined, lost };
}

/** The part of the database that commands, shared sessions and limits use. */
export type SharedDatabase = Pick<Database, 'schema' | 'query' | 'writer'>;

/** The claims of a group's lease in a database. */
export function claimsOn(database: SharedDatabase, lease: Lease, clock: Clock, log: Logger = recordingLogger()) {
  return createClaims(database, lease, clock, log);
}

/** The shared limits of requests to Discord, in a database. */
export const limitsOn = (database: SharedDatabase, clock: Clock) => createSharedLimits(database, clock);

/** Stores the sessions and servers of a group in a database during its shards' events, after the claims of the events. */
export function recorderOn(
  database: SharedDatabase,
  lease: Lease,
  shards: number,
  {
    claims,
    clock,
    log,
    ownId,
  }: {
    readonly claims: ReturnType<typeof claimsOn>;
    readonly clock: Clock;
    readonly log: Logger;
    readonly ownId: string;
  },
) {
  const store = createSessionStore(database, lease, shards, claims);
  return createSessionRecorder({ store, ready: Promise.resolve(), ownId: () => ownId, clock, log });
}

/** The error of a statement while the database is unreachable. */
export const databaseAway = () => new DatabaseError('DATABASE_AWAY', new Error('connection terminated'));

/** The database side of one process of a cluster. It makes no query before `open`. */
export function clusterProcess(
  { url, schema }: { readonly url: string; readonly schema: string },
  {
    poolSize = 3,
    log = recordingLogger(),
    clock = createSystemClock(),
  }: { readonly poolSize?: number; readonly log?: Logger; readonly clock?: Clock } = {},
) {
  const database = openDatabase({ url, schema, poolSize, use: 'cluster', clock, log });
  return {
    database,
    open: database.open,
    close: database.close,
    /** The documents of one of the groups of servers; by default, of all servers. */
    driver: (group = 0, groups = 1, lease?: Lease) =>
      database.driver({
        partition: groups === 1 ? EVERYTHING : createPartition(group, groups),
        ...(lease === undefined ? {} : { lease }),
      }),
    /** @param options.connections replaces its own connections */
    async leases(
      id: string,
      options: Pick<LeaseOptions, 'groups' | 'elapsed'> & Partial<Pick<LeaseOptions, 'connections'>>,
    ) {
      const member = { id, name: id, version: '1' };
      const leases = createLeases({ connections: database, schema, member, ...options });
      await leases.prepare();
      return leases;
    },
    /** The groups and shards of a new or existing cluster. */
    layout: (wanted: number, recommended: number) => agreeOnLayout(database, schema, { wanted, recommended }),
    /** Calls back after changes in the cluster; changes during a lost connection count as one. */
    onNews: (listener: () => void) =>
      database.listen(newsOf(schema), { received: listener, missed: async () => listener() }),
    /** Notifies the other processes. */
    announce: () => announceIn(database),
    claims: (lease: Lease) => claimsOn(database, lease, clock, log),
    /** The store of a group's sessions and servers. */
    sessions: (lease: Lease, shards: number) =>
      createSessionStore(database, lease, shards, { begun: async () => undefined }),
    /** The shared limits of requests to Discord. */
    limits: () => createSharedLimits(database, clock),
    /** The shared pace for syncing slash commands. */
    slashPace: () => createSharedSlashPace(createSharedLimits(database, clock), clock, log),
    /** The channel between the hosts of groups. */
    channel: (lease: Lease, groups: number) =>
      createClusterChannel({ database, lease, partition: createPartition(lease.group, groups), clock, log }),
    [Symbol.asyncDispose]: () => database.close(),
  };
}

type ClusterParts = Parameters<typeof createCluster>[0];
export type Leases = ClusterParts['leases'];
export type OpenHost = ClusterParts['open'];

/** Makes a process take its share of the groups, with the given leases. The process reaches Discord, and is not asked to end. */
export function shareOfGroups(
  parts: Pick<ClusterParts, 'leases' | 'groups' | 'open' | 'onNews'> & Partial<ClusterParts>,
) {
  return createCluster({
    clock: createSystemClock(),
    log: recordingLogger(),
    reachesDiscord: async () => true,
    onEndDue: () => undefined,
    ...parts,
  });
}

/** The assignment of a host whose lease never expires, in a cluster without other processes. */
export function aloneInCluster(group: number, groups: number): Assignment {
  return {
    partition: createPartition(group, groups),
    shardCount: groups,
    lease: heldLease(group),
    sessions: {
      load: async () => new Map(),
      guilds: async () => new Map(),
      guildsOf: async () => [],
      save: async () => undefined,
    },
    limits: {
      take: async (_name, wanted) => ({ granted: wanted, endsInMs: 0 }),
      giveBack: async () => undefined,
      requests: { take: () => true, whenMore: () => undefined },
    },
    claims: {
      run: async (_asked, task) => void (await task()),
      follows: () => undefined,
      begun: async () => undefined,
      unfinished: async () => [],
      finish: async () => undefined,
    },
    channel: {
      ask: () => Promise.reject(new Error('there is nobody else')),
      askAll: async () => [],
      answer: () => () => undefined,
      open: async () => undefined,
      close: () => undefined,
    },
    status: async () => ({ processes: [], groups: [], takeovers: [] }),
    member: { name: 'one', takeCrash: () => false },
    monitoring: { paths: [], page: async () => undefined },
  };
}

interface MemberOptions {
  /** The configuration with a token; the other parameters of a cluster follow. */
  readonly config: HostConfig & { readonly token: string };
  readonly name: string;
  readonly groups: number;
  readonly database: { readonly url: string; readonly schema: string };
  /** The machine's when left out. */
  readonly clock?: Clock;
  readonly host: Omit<HostOptions, 'config' | 'driver' | 'assignment'>;
  readonly log: Logger;
  readonly onUnreachable?: (sentence: string) => void;
}

/** Runs a process of a cluster, like `cinnabar start --cluster`, within this process. */
export function memberOfCluster(options: MemberOptions) {
  const { config, name, groups, database, host, log, onUnreachable, clock = createSystemClock() } = options;
  const { url, schema } = database;
  return createMember({
    config: { ...config, storage: { url, schema, poolSize: 4 }, cluster: { groups, name } },
    host,
    clock,
    log,
    onUnreachable: onUnreachable ?? (() => undefined),
  });
}

/** The Prometheus metrics of a cluster process without hosts. */
export async function metricsOfMember(): Promise<string> {
  const monitoring = createMemberMonitoring({
    name: 'mars',
    phase: () => 'running',
    hosts: () => [],
    status: async () => ({ processes: [], groups: [], takeovers: [] }),
    log: recordingLogger(),
  });
  await monitoring.open();
  return (await monitoring.page('/metrics'))?.body ?? '';
}
