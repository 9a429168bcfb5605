import { createSystemClock } from '@cinnabar/core';
import type { Assignment, Lease } from '@cinnabar/core/internal/cluster/assignment';
import { createClusterChannel } from '@cinnabar/core/internal/cluster/channel';
import { createClaims } from '@cinnabar/core/internal/cluster/claims';
import { createCluster } from '@cinnabar/core/internal/cluster/cluster';
import { createLeases, type LeaseOptions, newsOf } from '@cinnabar/core/internal/cluster/leases';
import { createSharedLimits } from '@cinnabar/core/internal/cluster/limits';
import { agreeOnLayout } from '@cinnabar/core/internal/cluster/member';
import { createSessionStore } from '@cinnabar/core/internal/cluster/sessions';
import { createSharedSlashPace } from '@cinnabar/core/internal/commands/slash-sync';
import { createPartition, EVERYTHING } from '@cinnabar/core/internal/gateway/partition';
import { createSessionRecorder } from '@cinnabar/core/internal/gateway/session-recorder';
import { DatabaseError } from '@cinnabar/core/internal/storage/drivers/postgres/connection';
import { type Database, openDatabase } from '@cinnabar/core/internal/storage/drivers/postgres/database';
import type { Clock, Logger } from '@cinnabar/sdk';
import { recordingLogger } from './logs.js';

/** A lease that nobody takes away. */
export function heldLease(group = 0, token = 1): Lease {
  const lost = new AbortController().signal;
  return { group, token: BigInt(token), isHeld: () => true, held: async () => undefined, lost };
}

/** As much of the database as answers commands, and shares sessions and limits. */
export type SharedDatabase = Pick<Database, 'schema' | 'query' | 'writer'>;

/** Which commands this holder of a group has begun, in a database. */
export function claimsOn(database: SharedDatabase, lease: Lease, clock: Clock, log: Logger = recordingLogger()) {
  return createClaims(database, lease, clock, log);
}

/** What processes may ask of Discord together, by a database. */
export const limitsOn = (database: SharedDatabase, clock: Clock) => createSharedLimits(database, clock);

/** What stores sessions and servers of a group in a database while events of its shards arrive, once what was claimed is begun. */
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

/** What a statement fails with while the database cannot be reached. */
export const databaseAway = () => new DatabaseError('DATABASE_AWAY', new Error('connection terminated'));

/** One process of a cluster, as far as its database goes. Nothing is asked of it before `open`. */
export function clusterProcess(
  { url, schema }: { readonly url: string; readonly schema: string },
  { poolSize = 3, log = recordingLogger() }: { readonly poolSize?: number; readonly log?: Logger } = {},
) {
  const clock = createSystemClock();
  const database = openDatabase({ url, schema, poolSize, use: 'cluster', clock, log });
  return {
    database,
    open: database.open,
    close: database.close,
    /** The documents of one of so many groups of servers; of all servers, when it is left out. */
    driver: (group = 0, groups = 1, lease?: Lease) =>
      database.driver({
        partition: groups === 1 ? EVERYTHING : createPartition(group, groups),
        ...(lease === undefined ? {} : { lease }),
      }),
    /** @param options.connections a way to the database other than its own */
    async leases(
      id: string,
      options: Pick<LeaseOptions, 'groups' | 'elapsed'> & Partial<Pick<LeaseOptions, 'connections'>>,
    ) {
      const member = { id, name: id, version: '1' };
      const leases = createLeases({ connections: database, schema, member, ...options });
      await leases.prepare();
      return leases;
    },
    /** The groups and shards of a cluster that begins, or as they are. */
    layout: (wanted: number, recommended: number) => agreeOnLayout(database, schema, { wanted, recommended }),
    /** Calls back when something has changed in the cluster; what happened while nothing was heard counts as one change. */
    onNews: (listener: () => void) =>
      database.listen(newsOf(schema), { received: listener, missed: async () => listener() }),
    /** Has the other processes look at once. */
    announce: () => database.query(`SELECT pg_notify('${newsOf(schema)}', '')`),
    claims: (lease: Lease) => claimsOn(database, lease, clock, log),
    /** Where the shards of a group store their sessions and servers. */
    sessions: (lease: Lease, shards: number) =>
      createSessionStore(database, lease, shards, { begun: async () => undefined }),
    /** What all processes together may ask of Discord. */
    limits: () => createSharedLimits(database, clock),
    /** Turns in which lists of slash commands are brought in line. */
    slashPace: () => createSharedSlashPace(createSharedLimits(database, clock), clock, log),
    /** Through which the hosts of groups ask one another. */
    channel: (lease: Lease, groups: number) =>
      createClusterChannel({ database, lease, partition: createPartition(lease.group, groups), clock, log }),
    [Symbol.asyncDispose]: () => database.close(),
  };
}

type ClusterParts = Parameters<typeof createCluster>[0];
export type Leases = ClusterParts['leases'];
export type OpenHost = ClusterParts['open'];

/** What has a process take its share of the groups, by whatever leases; it reaches Discord, and nobody asks it to end. */
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

/** What a host of a cluster serves that is never taken from it, and that has nobody beside it to ask. */
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
