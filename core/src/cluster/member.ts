import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  type CinnabarError,
  type Clock,
  type HostEnd,
  type Logger,
  UserError,
  unlessUnreachable,
  z,
} from '@cinnabar/sdk';
import { REST, Routes } from 'discord.js';
import { createSystemRandom } from '../clock/clock.js';
import { DEFAULT_GROUPS, type HostConfig } from '../config/host-config.js';
import { openDataDir } from '../config/load.js';
import { type DataLock, lockData } from '../data-lock/lock.js';
import { type Partition, shardCountFor } from '../gateway/partition.js';
import { createGatewayInformation } from '../gateway/session-limits.js';
import { createHost, type Host, type HostOptions } from '../host.js';
import { createMonitoring } from '../observability/monitoring.js';
import { discoveryOf } from '../plugins/discovery.js';
import { createDefinitionPool, createLoader } from '../plugins/loader.js';
import { dataUnusable } from '../storage/driver.js';
import { placeOfData } from '../storage/drivers/open-driver.js';
import { type Connections, createConnections } from '../storage/drivers/postgres/connection.js';
import { openDatabase } from '../storage/drivers/postgres/database.js';
import { placeDocuments } from '../storage/drivers/postgres/migrations.js';
import { HOST_VERSION } from '../version.js';
import type { Lease } from './assignment.js';
import { createClusterChannel } from './channel.js';
import { createClaims } from './claims.js';
import { createCluster, type GroupHost } from './cluster.js';
import { askToEnd, createLeases, newsOf } from './leases.js';
import { createSharedLimits } from './limits.js';
import { createMemberMonitoring } from './monitoring.js';
import { createSessionStore } from './sessions.js';
import { readStatus } from './status.js';

export interface MemberOptions {
  readonly config: HostConfig & { readonly token: string };
  /** The parts that the hosts of all groups share. */
  readonly host: Pick<
    HostOptions,
    'clock' | 'terminal' | 'builtPlugins' | 'plugins' | 'only' | 'onEndRequest' | 'onLogEntry'
  >;
  /** Leases use the machine's real time. */
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when Discord does not answer before there is a connection. Must not throw. */
  readonly onUnreachable: (detail: string, retryInMs: number) => void;
}

/** One of the processes that serve a bot together. */
export interface Member {
  readonly name: string;
  /** Joins the cluster, and resolves when its first share of the groups is served. @throws UserError, CINNABAR_DATA_IN_USE, CINNABAR_GATEWAY_LOGIN */
  start(): Promise<Layout>;
  /** Hands its groups over, and leaves. Never rejects. */
  stop(): Promise<void>;
  /** Groups that it serves or is about to. */
  groups(): readonly number[];
  /** The hosts of these groups. */
  hosts(): Iterable<Host>;
  /** Where health and metrics of the process are served, while they are. */
  readonly monitoringUrl: string | undefined;
  /** Resolves when Discord refuses the bot. */
  readonly ended: Promise<CinnabarError>;
}

/** A separate connection: renewals do not wait behind queries of the hosts. */
const LEASE_CONNECTIONS = 2;

/** @throws UserError where no database is configured */
export function createMember({ config, host: common, clock, log, onUnreachable }: MemberOptions): Member {
  const { storage } = config;
  if (storage === undefined)
    throw new UserError(
      'A cluster needs a database that all its processes share: set DATABASE_URL. See docs/operators/cluster.md.',
    );
  const { schema } = storage;
  const name = config.cluster?.name ?? hostname();
  const closing = new AbortController();
  const hosts = new Map<number, Host>();
  const definitions = createDefinitionPool();
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  const database = openDatabase({ ...storage, use: 'cluster', clock, log });
  const limits = createSharedLimits(database, clock);
  const connections = createConnections({ ...storage, poolSize: LEASE_CONNECTIONS });
  const discord = askDiscord(config, { clock, signal: closing.signal, onUnreachable });
  const status = () => readStatus(database.query, schema);
  const monitoring = createMemberMonitoring({
    name,
    phase: () => phase,
    hosts: () => [...hosts].map(([group, host]) => ({ group, monitoring: host.monitoring })),
    status,
    log,
  });
  const monitoringServer = createMonitoring({ address: config.monitoring, pages: monitoring, log });
  let cluster: ReturnType<typeof createCluster> | undefined;
  let lock: DataLock | undefined;
  let fail: (error: CinnabarError) => void = () => undefined;
  const ended = new Promise<CinnabarError>((resolve) => {
    fail = resolve;
  });

  let hasCrashed = false;
  /**
   * Whether the last run of this process did not stop cleanly; `true` once. Determined from the lock of the process, because each host has its own lock, and
   * those of groups that another process has taken stay abandoned.
   */
  const takeCrash = () => {
    const isNews = hasCrashed;
    hasCrashed = false;
    return isNews;
  };

  /** Evaluates the bundled plugins before a group is taken, so that the first group's servers do not wait for it. */
  const evaluatePlugins = async () => {
    const { reuse, giveBack } = definitions.borrow();
    const cacheDir = join(config.buildCacheDir, 'plugins');
    const loader = createLoader({ cacheDir, hostVersion: HOST_VERSION, builtPlugins: common.builtPlugins, reuse });
    const { plugins } = await discoveryOf(config)();
    const isWanted = (id: string) => !config.disabledPlugins.includes(id) && (common.only?.includes(id) ?? true);
    const wanted = plugins.filter(({ id, source }) => source === 'bundled' && isWanted(id));
    // A failure is reported by the host that loads the plugin.
    await Promise.allSettled(wanted.map((plugin) => loader.load(plugin)));
    giveBack();
  };

  const endAll = (how: HostEnd) =>
    void askToEnd(database.query, schema, how).catch((error: unknown) =>
      log.error(`the processes could not be asked for a ${how}`, { error }),
    );

  /** The bot of one group. Its files are caches and logs, separate from those of other groups. */
  const openGroup = (partition: Partition, lease: Lease, { shardCount }: Layout): GroupHost => {
    const folder = join('groups', String(partition.group));
    const { monitoring: _, ...own } = config;
    const groupConfig = {
      ...own,
      installDir: config.dataDir,
      dataDir: join(config.dataDir, folder),
      logDir: join(config.logDir, folder),
    };
    const claims = createClaims(database, lease, clock, log);
    const { reuse, giveBack } = definitions.borrow();
    const host = createHost({
      ...common,
      ...(common.onEndRequest === undefined ? {} : { onEndRequest: endAll }),
      reusePlugin: reuse,
      config: groupConfig,
      driver: database.driver({ lease, partition }),
      assignment: {
        partition,
        shardCount,
        lease,
        sessions: createSessionStore(database, lease, shardCount, claims),
        limits,
        claims,
        channel: createClusterChannel({ database, lease, partition, clock, log }),
        status,
        member: { name, takeCrash },
        monitoring,
      },
    });
    return {
      async start() {
        openDataDir(groupConfig.dataDir);
        hosts.set(partition.group, host);
        await monitoring.join(host.monitoring);
        await host.start(config.token);
      },
      async stop() {
        const { unfinished } = await host.stop();
        // Plugins are not reused while code of theirs still runs.
        if (unfinished.length === 0) giveBack();
        if (hosts.get(partition.group) === host) hosts.delete(partition.group);
      },
      get notConnectedSince() {
        return host.notConnectedSince;
      },
      ended: host.ended,
    };
  };

  const prepareDatabase = async (): Promise<Layout> => {
    await database.open();
    return agreeOnLayout(connections, schema, {
      wanted: config.cluster?.groups ?? DEFAULT_GROUPS,
      recommended: await discord.recommendedShards(),
    });
  };

  return {
    name,
    ended,
    groups: () => cluster?.groups ?? [],
    hosts: () => hosts.values(),
    get monitoringUrl() {
      return monitoringServer.url;
    },
    async start() {
      openDataDir(config.dataDir);
      lock = await lockData(config.dataDir, clock, {
        onWait: (sentence) => log.warn(sentence),
        onLost: (error) => log.error('the folder of data belongs to another process now', { error }),
        signal: closing.signal,
      });
      hasCrashed = lock.abandonedAt !== undefined;
      await monitoringServer.open();
      const layout = await prepareDatabase().catch((error: unknown) => {
        throw dataUnusable(placeOfData(config), error) ?? error;
      });
      await placeDocuments(database, discord.guildOf).catch((error: unknown) =>
        log.warn('the servers of some stored channels could not be found; the first group has them', { error }),
      );
      cluster = createCluster({
        leases: createLeases({
          connections,
          schema,
          member: { id: randomUUID(), name, version: HOST_VERSION },
          groups: layout.groups,
          onTakeover: monitoring.taken,
        }),
        groups: layout.groups,
        clock,
        log,
        open: (partition, lease) => openGroup(partition, lease, layout),
        reachesDiscord: discord.answers,
        onEndDue: (how) => common.onEndRequest?.(how),
        onNews: (listener) => database.listen(newsOf(schema), { received: listener, missed: async () => listener() }),
      });
      void cluster.ended.then(fail);
      await evaluatePlugins();
      await cluster.start();
      if (phase === 'starting') phase = 'running';
      return layout;
    },
    async stop() {
      phase = 'stopping';
      closing.abort(new UserError('The bot was stopped before it was ready.'));
      await cluster?.stop();
      await database.close();
      await connections.close();
      await monitoringServer.close();
      lock?.release();
    },
  };
}

interface AskOptions extends Pick<MemberOptions, 'clock' | 'onUnreachable'> {
  readonly signal: AbortSignal;
}

/** Requests to Discord before there is a connection. */
function askDiscord({ discordApi, token }: MemberOptions['config'], { clock, signal, onUnreachable }: AskOptions) {
  const api = discordApi === undefined ? {} : { api: discordApi };
  const rest = new REST({ ...api, retries: 0, hashSweepInterval: 0, handlerSweepInterval: 0 }).setToken(token);
  const ask = () => rest.get(Routes.gatewayBot());
  const information = createGatewayInformation({
    ask,
    clock,
    random: createSystemRandom(clock),
    signal,
    onUnreachable,
  });
  let roles: Promise<ReadonlyMap<string, string>> | undefined;
  return {
    /** The server of a channel or role; `null` when it is gone or belongs to none. */
    async guildOf(kind: 'channel' | 'role', id: string): Promise<string | null> {
      if (kind === 'role') {
        roles ??= rolesOfAll(rest);
        return (await roles).get(id) ?? null;
      }
      const channel = await unlessUnreachable(rest.get(Routes.channel(id)));
      return z.object({ guild_id: z.string() }).safeParse(channel).data?.guild_id ?? null;
    },
    recommendedShards: async () => (await information.get()).shards,
    answers: async () => {
      try {
        await ask();
        return true;
      } catch {
        return false;
      }
    },
  };
}

const withId = z.array(z.object({ id: z.string() }));
/** Discord's maximum page size. */
const GUILDS_AT_ONCE = 200;

/** The server of each role. */
async function rolesOfAll(rest: REST): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (let after = '0'; ; ) {
    const query = new URLSearchParams({ limit: String(GUILDS_AT_ONCE), after });
    const guilds = withId.parse(await rest.get(Routes.userGuilds(), { query }));
    for (const { id } of guilds)
      for (const role of withId.parse(await rest.get(Routes.guildRoles(id)))) found.set(role.id, id);
    const last = guilds.at(-1);
    if (last === undefined || guilds.length < GUILDS_AT_ONCE) return found;
    after = last.id;
  }
}

/** How a cluster divides the servers of its bot. */
export interface Layout {
  readonly groups: number;
  /** A multiple of the groups. */
  readonly shardCount: number;
}

/** When no process has sent a heartbeat for this time, the cluster counts as stopped. */
const SILENT_MS = 15_000;

/**
 * The layout that all processes share. The groups stay those of the very first start, since journals belong to them. The number of shards is set to Discord's
 * recommendation when the first process of a stopped cluster starts: another number makes all shards identify again.
 * @param wanted the number of groups when none exist yet
 * @param recommended how many shards Discord recommends
 */
export function agreeOnLayout(
  connections: Pick<Connections, 'transaction'>,
  schema: string,
  { wanted, recommended }: { readonly wanted: number; readonly recommended: number },
): Promise<Layout> {
  return connections.transaction(async (query) => {
    await query(`LOCK TABLE ${schema}.cluster IN EXCLUSIVE MODE`);
    const [known] = await query(`SELECT groups, shard_count FROM ${schema}.cluster`);
    if (known === undefined) {
      const layout = { groups: wanted, shardCount: shardCountFor(recommended, wanted) };
      await query(`INSERT INTO ${schema}.cluster (groups, shard_count) VALUES ($1, $2)`, [
        layout.groups,
        layout.shardCount,
      ]);
      return layout;
    }
    const groups = Number(known.groups);
    const shardCount = Number(known.shard_count);
    const [alive] = await query(`SELECT FROM ${schema}.members WHERE seen_at > now() - $1 * interval '1 ms'`, [
      SILENT_MS,
    ]);
    const due = shardCountFor(recommended, groups);
    if (alive !== undefined || due === shardCount) return { groups, shardCount };
    await query(`UPDATE ${schema}.cluster SET shard_count = $1`, [due]);
    return { groups, shardCount: due };
  });
}
