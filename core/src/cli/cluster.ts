import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { CinnabarError, type HostEnd, UserError } from '@cinnabar/sdk';
import { REST, Routes } from 'discord.js';
import { createSystemClock, createSystemRandom } from '../clock/clock.js';
import type { Lease, Partition } from '../cluster/assignment.js';
import { createCluster, type GroupHost } from '../cluster/cluster.js';
import { agreeOnLayout, type Layout } from '../cluster/layout.js';
import { createLeases, newsOf } from '../cluster/leases.js';
import { createSessionStore } from '../cluster/sessions.js';
import { DEFAULT_GROUPS, type HostConfig } from '../config/host-config.js';
import { openDataDir } from '../config/load.js';
import { createGatewayInformation } from '../gateway/session-limits.js';
import { createHost, type Host } from '../host.js';
import { createRedactor, secretsIn } from '../observability/log-entry.js';
import { createLogs } from '../observability/logs.js';
import { guardProcess } from '../process/errors.js';
import { RESTART_CODE } from '../process/restart.js';
import { listenToSignals } from '../process/signals.js';
import { startWatchdog } from '../process/watchdog.js';
import { createConnections } from '../storage/drivers/postgres/connection.js';
import { openDatabase } from '../storage/drivers/postgres/database.js';
import { HOST_VERSION } from '../version.js';
import { type StartOptions, sayOn } from './discord.js';

/** Renewals do not wait behind what the hosts ask of the database. */
const LEASE_CONNECTIONS = 2;

/** The watchdog takes a process for stuck after a few seconds without one. */
const BEAT_MS = 250;

/**
 * `cinnabar start --cluster`: one of the processes that serve a bot together, until a signal or an owner stops it.
 * @returns the exit code: 0 when it has stopped, `RESTART_CODE` when it is to be started again
 * @throws UserError where no database is configured; CINNABAR_GATEWAY_LOGIN
 */
export async function runMember(
  config: HostConfig & { readonly token: string },
  process: NodeJS.Process,
  options: StartOptions = {},
): Promise<number> {
  const { storage } = config;
  if (storage === undefined)
    throw new UserError(
      '--cluster needs a database that all processes share: set DATABASE_URL. See docs/operators/cluster.md.',
    );
  const say = sayOn(process);
  const clock = createSystemClock();
  const logs = createLogs({
    dir: config.logDir,
    level: config.logLevel,
    clock,
    redactor: createRedactor(secretsIn(config)),
    console: { stream: process.stderr, level: config.logLevel },
  });
  const log = logs.logger('cluster');
  const signals = listenToSignals(process, say);
  const closing = new AbortController();
  void signals.first.then(() => closing.abort(new UserError('The bot was stopped before it was ready.')));
  const watchdog = startWatchdog();
  watchdog.logTo(log);
  const beat = setInterval(() => watchdog.beat(), BEAT_MS);
  const hosts = new Set<Host>();
  // Which group's plugin it was cannot be seen: all groups run the same.
  const release = guardProcess(process, (error, kind) => {
    const [host] = hosts;
    if (host === undefined) log.error(`uncaught ${kind}`, { error });
    else host.uncaught(error, kind);
  });
  const database = openDatabase({ ...storage, use: 'cluster', clock, log: logs.logger('storage') });
  const connections = createConnections({ ...storage, poolSize: LEASE_CONNECTIONS });
  let requestEnd: (how: HostEnd) => void = () => undefined;
  const requested = new Promise<HostEnd>((resolve) => {
    requestEnd = resolve;
  });
  try {
    await database.open();
    const discord = askDiscord(config, closing.signal, say);
    const layout = await agreeOnLayout(connections, storage.schema, {
      wanted: config.cluster?.groups ?? DEFAULT_GROUPS,
      recommended: await discord.recommendedShards(),
    });
    const name = config.cluster?.name ?? hostname();
    const cluster = createCluster({
      leases: createLeases({
        connections,
        schema: storage.schema,
        member: { id: randomUUID(), name, version: HOST_VERSION },
        groups: layout.groups,
      }),
      groups: layout.groups,
      clock,
      log,
      open: (partition, lease) => openGroup(partition, lease, layout),
      reachesDiscord: discord.answers,
      onNews: (listener) =>
        database.listen(newsOf(storage.schema), { heard: listener, missed: async () => listener() }),
    });
    const serving = cluster.start().then(() => process.stdout.write(readyLine(name, layout, cluster.groups)));
    const ended = await Promise.race([
      signals.first,
      requested,
      cluster.ended,
      // It goes on until one of the others comes, or fails.
      serving.then(() => new Promise<never>(() => undefined)),
    ]);
    await cluster.stop();
    if (ended instanceof CinnabarError) throw ended;
    say('stopped.');
    return ended === 'restart' ? RESTART_CODE : 0;
  } finally {
    clearInterval(beat);
    await database.close();
    await connections.close();
    release();
    signals.release();
    await logs.close();
  }

  /** The bot of one group: its files are caches and logs, and lie apart from those of other groups. */
  function openGroup(partition: Partition, lease: Lease, { shardCount }: Layout): GroupHost {
    const folder = join('groups', String(partition.group));
    const { monitoring: _, ...own } = config;
    const groupConfig = { ...own, dataDir: join(config.dataDir, folder), logDir: join(config.logDir, folder) };
    const host = createHost({
      config: groupConfig,
      terminal: { stream: process.stderr, level: config.logLevel },
      driver: database.driver({ lease }),
      assignment: { partition, shardCount, lease, sessions: createSessionStore(database, lease, shardCount) },
      onEndRequest: requestEnd,
      ...(options.builtPlugins === undefined ? {} : { builtPlugins: options.builtPlugins }),
    });
    return {
      async start() {
        openDataDir(groupConfig.dataDir);
        hosts.add(host);
        await host.start(config.token);
      },
      async stop() {
        await host.stop();
        hosts.delete(host);
      },
      get notConnectedSince() {
        return host.notConnectedSince;
      },
      ended: host.ended,
    };
  }
}

/** What this process wants to know of Discord before it has connections. */
function askDiscord(
  config: HostConfig & { readonly token: string },
  signal: AbortSignal,
  say: (sentence: string) => void,
) {
  const clock = createSystemClock();
  const rest = new REST({
    ...(config.discordApi === undefined ? {} : { api: config.discordApi }),
    retries: 0,
    hashSweepInterval: 0,
    handlerSweepInterval: 0,
  }).setToken(config.token);
  const ask = () => rest.get(Routes.gatewayBot());
  const information = createGatewayInformation({
    ask,
    clock,
    random: createSystemRandom(clock),
    signal,
    onUnreachable: (detail, ms) =>
      say(`Discord does not answer (${detail}); asking again in ${Math.ceil(ms / 1_000)} s.`),
  });
  return {
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

function readyLine(name: string, { groups, shardCount }: Layout, own: readonly number[]): string {
  const serves = own.length === 0 ? 'none yet: the others serve all' : own.join(', ');
  return `Cinnabar ${HOST_VERSION} is ready as ${name}, one of a cluster of ${groups} groups with ${shardCount} shards. Groups served here: ${serves}.\n`;
}
