import {
  CinnabarError,
  type Clock,
  type HostEnd,
  type Language,
  type Logger,
  type OwnerAlert,
  type Plugin,
  type Random,
  type Token,
  t,
  UserError,
  withinLimit,
} from '@cinnabar/sdk';
import 'reflect-metadata';
import type { Client } from 'discord.js';
import { container as root } from 'tsyringe';
import { recoverData } from './backup/backups.js';
import { createSystemClock, createSystemRandom } from './clock/clock.js';
import type { Assignment } from './cluster/assignment.js';
import { tellUnfinished } from './cluster/claims.js';
import { KEYS } from './composition/keys.js';
import { registerServices } from './composition/registrations.js';
import type { HostConfig } from './config/host-config.js';
import { type DataLock, lockData } from './data-lock/lock.js';
import { NO_WATCHDOG } from './gateway/boundary.js';
import { login } from './gateway/client.js';
import { createDiscordSync } from './gateway/discord-sync.js';
import { createRedactor, type Entry as LogEntry, secretsIn } from './observability/log-entry.js';
import { createLogs } from './observability/logs.js';
import { publishHostMetrics } from './observability/metrics.js';
import {
  createMonitoring,
  createMonitoringPages,
  createReadiness,
  type MonitoringPages,
  probeSchema,
} from './observability/monitoring.js';
import type { BootReport } from './plugins/lifecycle/load.js';
import { IN_MEMORY } from './plugins/lifecycle/records.js';
import type { BuiltPlugins, LoaderOptions } from './plugins/loader.js';
import type { PluginChange, PluginManager } from './plugins/manager.js';
import { createUncaught, type UncaughtKind } from './process/errors.js';
import type { Watchdog } from './process/watchdog.js';
import { type Driver, dataUnusable, watchedDriver } from './storage/driver.js';
import { openDriver, placeOfData } from './storage/drivers/open-driver.js';

export interface HostOptions {
  readonly config: HostConfig;
  /** Where people see warnings and errors; nowhere when it is left out. */
  readonly terminal?: { readonly stream: NodeJS.WritableStream; readonly level: HostConfig['logLevel'] };
  /** Called with every entry of the log, without secrets. Must not throw. */
  readonly onLogEntry?: (entry: LogEntry) => void;
  /** Whether the log is written to files; by default it is. */
  readonly logFiles?: boolean;
  /** The machine's clock when left out. */
  readonly clock?: Clock;
  readonly random?: Random;
  /** The one that `config.storage` names when left out. */
  readonly driver?: Driver;
  /** Which part of the bot's servers it serves, beside other hosts; all of them when it is left out. */
  readonly assignment?: Assignment;
  /** Plugins that are in memory already, in addition to those found on the disk. */
  readonly plugins?: readonly Plugin[];
  /** Ids or folders: no other plugin is started. */
  readonly only?: readonly string[];
  /** Bundles of plugins that are used without checking the sources. */
  readonly builtPlugins?: BuiltPlugins;
  /** See `LoaderOptions.reuse`. */
  readonly reusePlugin?: LoaderOptions['reuse'];
  /** The language when neither member nor guild has chosen one; English when it is left out. */
  readonly language?: Language;
  /** Whether the Discord was started with this process, as a local one: what earlier runs stored about its slash commands is invalid then. */
  readonly isDiscordNew?: boolean;
  /** Called with heartbeats of the event loop; none when it is left out. */
  readonly watchdog?: Watchdog;
  /** Called when an owner asks the bot to stop. Left out when other hosts share the process: then stopping is refused. */
  readonly onEndRequest?: (how: HostEnd) => void;
}

/** The running bot. */
export interface Host {
  readonly client: Client;
  readonly plugins: PluginManager;
  readonly log: Logger;
  /** Handles an uncaught error: logs it, and attributes it to the plugin that caused it. */
  readonly uncaught: (error: unknown, kind: UncaughtKind) => void;
  /** Since when not all shards have been connected to Discord, in milliseconds since the Unix epoch; `undefined` while they are. */
  readonly notConnectedSince: number | undefined;
  /** Resolves when Discord has closed the connection for a permanent reason: the bot has to stop. */
  readonly ended: Promise<CinnabarError>;
  /** Health and metrics of this host. */
  readonly monitoring: MonitoringPages;
  /** Where health and metrics are served, while they are. */
  readonly monitoringUrl: string | undefined;
  /** A service, as a plugin would inject it. @throws when there is no provider */
  resolve<T>(token: Token<T>): T;
  /**
   * Locks the data, starts the plugins, then logs in; waits while Discord is unreachable.
   * @throws CinnabarError CINNABAR_DATA_IN_USE, CINNABAR_DATA_UNUSABLE, CINNABAR_GATEWAY_LOGIN
   */
  start(token: string): Promise<BootReport>;
  /**
   * Stops within 15 s, whatever hangs: accepts no more events, lets running work finish for 6 s, cancels the rest and informs those who wait for it, stops the
   * plugins in reverse order, saves, logs out. Never rejects. Idempotent.
   */
  stop(): Promise<StopReport>;
  /** Resolves when no handler and no change of plugins is running; with `true` when it had to wait. */
  idle(): Promise<boolean>;
}

/** The result of a stop. */
export interface StopReport {
  /** Names of the steps that were aborted; the log has the rest. */
  readonly unfinished: readonly string[];
  /** Whether all data were written to the disk. */
  readonly saved: boolean;
}

/** Running work may finish by itself during this time, … */
const DRAIN_MS = 6_000;
/** … and after it is cancelled has this long to end and to report. */
const CANCEL_MS = 2_000;
/** Maximum wait of a test or a console for its bot. */
const IDLE_MS = 60_000;

/** Composes the host. Nothing is connected or loaded before `start`. */
export function createHost(options: HostOptions): Host {
  const { config, terminal, clock = createSystemClock(), only, plugins: inMemory = [] } = options;
  const logs = createLogs({
    dir: config.logDir,
    files: options.logFiles,
    level: config.logLevel,
    ...(config.logMegabytes === undefined ? {} : { maxMegabytes: config.logMegabytes }),
    clock,
    redactor: createRedactor(secretsIn(config)),
    ...(terminal === undefined ? {} : { console: terminal }),
    onEntry: options.onLogEntry,
  });
  const log = logs.logger('host');

  const container = root.createChildContainer();
  container.register(KEYS.container, { useValue: container });
  container.register(KEYS.config, { useValue: config });
  container.register(KEYS.clock, { useValue: clock });
  container.register(KEYS.random, { useValue: options.random ?? createSystemRandom(clock) });
  container.register(KEYS.logs, { useValue: logs });
  container.register(KEYS.discord, { useValue: { isNew: options.isDiscordNew === true } });
  container.register(KEYS.spoken, { useValue: { byDefault: options.language } });
  container.register(KEYS.hostControl, {
    useValue: {
      end(how) {
        if (options.onEndRequest === undefined) throw new UserError(t('I cannot be stopped by a command here.'));
        log.info(`an owner of the bot asked for a ${how}`);
        options.onEndRequest(how);
      },
    },
  });
  container.register(KEYS.assignment, { useValue: { of: options.assignment } });
  const watchdog = options.watchdog ?? NO_WATCHDOG;
  watchdog.logTo(log);
  container.register(KEYS.watchdog, { useValue: watchdog });
  const driver = options.driver ?? openDriver(config, logs.logger('storage'), 'alone');
  const onPluginChange = (change: PluginChange) => {
    if (change.guildId === null) container.resolve(KEYS.languages).reread();
    discordSync.pluginsChanged(change);
  };
  registerServices(container, onPluginChange, { builtPlugins: options.builtPlugins, reuse: options.reusePlugin });
  const diskWatch = container.resolve(KEYS.diskWatch);
  container.register(KEYS.driver, { useValue: watchedDriver(driver, diskWatch) });

  const gateway = container.resolve(KEYS.gateway);
  const plugins = container.resolve(KEYS.plugins);
  const boundary = container.resolve(KEYS.boundary);
  const commands = container.resolve(KEYS.commands);
  /** @throws CINNABAR_DATA_UNUSABLE when the disk or the database is the reason */
  const onData = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      return await task();
    } catch (error) {
      throw dataUnusable(placeOfData(config), error) ?? error;
    }
  };
  const discordSync = createDiscordSync(
    gateway,
    plugins,
    commands,
    container.resolve(KEYS.guildStates),
    log,
    config.intents ?? [],
  );
  const configuration = container.resolve(KEYS.configuration);
  const publish = () =>
    publishHostMetrics({
      metrics: container.resolve(KEYS.metrics).host,
      client: gateway.client,
      gateway: gateway.status,
      inFlight: container.resolve(KEYS.inFlight),
      plugins,
      tools: container.resolve(KEYS.tools),
    });
  const pages = createMonitoringPages({
    metrics: container.resolve(KEYS.metrics),
    publish,
    readiness: createReadiness({
      phase: () => (stopping !== undefined ? 'stopping' : running ? 'running' : 'starting'),
      gateway: gateway.status,
      probe: () =>
        container
          .resolve(KEYS.storage)
          .collection('readiness', { scope: 'global', version: 1, schema: probeSchema })
          .of('probe'),
      clock,
    }),
  });
  container.register(KEYS.monitoring, { useValue: options.assignment?.monitoring ?? pages });
  const monitoring = createMonitoring({ address: config.monitoring, pages, log });
  let running = false;
  let lock: DataLock | undefined;
  let stopping: Promise<StopReport> | undefined;
  const stopSignal = new AbortController();

  const SAVING = 'saving';
  const phases: readonly Phase[] = [
    {
      name: 'taking no more events',
      limitMs: 1_000,
      async run() {
        configuration.stop();
        options.assignment?.channel.close();
        await gateway.leave();
        container.resolve(KEYS.events).close();
      },
    },
    { name: 'finishing what is under way', limitMs: DRAIN_MS, run: () => boundary.drained(DRAIN_MS * 2) },
    {
      name: 'cancelling what is under way',
      limitMs: CANCEL_MS,
      run() {
        const busy = container.resolve(KEYS.inFlight).busy();
        if (busy.length > 0) log.warn(`stopping: cancelling what ${busy.join(', ')} have under way`, { plugins: busy });
        plugins.cancel();
        return boundary.drained(CANCEL_MS * 2);
      },
    },
    { name: 'the slash commands', limitMs: 500, run: discordSync.close },
    { name: 'stopping the plugins', limitMs: 2_500, run: () => plugins.stop() },
    {
      name: SAVING,
      limitMs: 1_500,
      async run() {
        await container.resolve(KEYS.tools).close();
        await container.resolve(KEYS.notices).close();
        await container.resolve(KEYS.storage).flush();
        await driver.close();
      },
    },
    {
      name: 'logging out',
      limitMs: 1_000,
      async run() {
        // A clean stop closes its connections silently.
        container.resolve(KEYS.connectionLog).stop();
        await Promise.all([gateway.close(), container.resolve(KEYS.workers).close()]);
      },
    },
  ];
  const stop = async (): Promise<StopReport> => {
    const unfinished = await runPhases(phases, { clock, log });
    container.resolve(KEYS.blockage).stop();
    await runPhases([{ name: 'monitoring', limitMs: 250, run: monitoring.close }], { clock, log });
    await runPhases([{ name: 'the log', limitMs: 250, run: logs.close }], { clock, log });
    // Runs after any error: the next process must be able to start.
    lock?.release();
    return { unfinished, saved: !unfinished.includes(SAVING) };
  };
  const assertGoing = () => {
    if (stopping !== undefined) throw new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin: 'host', state: 'stopping' });
  };
  /** Answers requests of other processes of the cluster. */
  const answerOthers = async ({ channel }: Assignment) => {
    // Resolving the doctor registers its answers to other processes.
    container.resolve(KEYS.doctor);
    await channel.open();
  };
  const lockOwnData = async (): Promise<DataLock> => {
    const taken = await onData(() =>
      // The machine's clock, as in other processes: a local Discord's clock may be stopped or ahead.
      lockData(config.dataDir, createSystemClock(), {
        onWait: (sentence) => log.warn(sentence),
        onLost: (error) => diskWatch.failed(error, config.dataDir),
        signal: stopSignal.signal,
      }),
    ).catch((error: unknown) => {
      assertGoing();
      throw error;
    });
    // A stop that began meanwhile found no lock to release.
    if (stopping !== undefined) taken.release();
    assertGoing();
    return taken;
  };

  return {
    client: gateway.client,
    plugins,
    log,
    uncaught: createUncaught({
      plugins: () => plugins.list(),
      boundary,
      alert: (alert) => container.resolve(KEYS.notices).alert(alert),
      clock,
      log,
    }),
    ended: gateway.ended,
    get notConnectedSince() {
      return gateway.status.notReadySince;
    },
    monitoring: pages,
    get monitoringUrl() {
      return monitoring.url;
    },
    resolve: <T>(token: Token<T>) => {
      const { service } = container.resolve(KEYS.services).resolve({ service: token });
      // The token's type is the type that its provider was checked against.
      return service as T;
    },
    async start(token) {
      assertGoing();
      lock = await lockOwnData();
      diskWatch.guard(lock.check);
      await onData(() => recoverData(config.dataDir));
      await onData(async () => driver.open?.());
      container.resolve(KEYS.blockage).open();
      await container.resolve(KEYS.notices).open();
      await onData(() => container.resolve(KEYS.secrets).open());
      assertGoing();
      if (lock.abandonedAt !== undefined) {
        log.info('the last run did not stop cleanly', { lastSeen: new Date(lock.abandonedAt).toISOString() });
      }
      const member = options.assignment?.member;
      if (member === undefined ? lock.abandonedAt !== undefined : member.takeCrash())
        container.resolve(KEYS.notices).alert(crashAlert(member?.name));
      await monitoring.open();
      assertGoing();
      await onData(() => container.resolve(KEYS.ownerState).open());
      assertGoing();
      await onData(() => container.resolve(KEYS.tools).recover());
      for (const plugin of inMemory) plugins.add(plugin, { path: IN_MEMORY });
      assertGoing();
      const report = await plugins.boot(only === undefined ? {} : { only });
      assertGoing();
      // A plugin that fails is skipped; a mistake in the configuration must be corrected before anything runs.
      const mistake = report.problems.find(({ code }) => code === 'CINNABAR_CONFIG_INVALID');
      if (mistake !== undefined) throw new UserError(mistake.problem);
      await configuration.start();
      await onData(() => container.resolve(KEYS.guildFiles).recover());
      assertGoing();
      discordSync.beforeLogin();
      container.resolve(KEYS.connectionLog);
      await Promise.all([login(gateway, token), discordSync.loggingIn()]);
      assertGoing();
      running = true;
      discordSync.loggedIn();
      await container.resolve(KEYS.tools).serve();
      await onData(async () => options.assignment && answerOthers(options.assignment));
      const claims = options.assignment?.claims;
      if (claims !== undefined) {
        const languages = container.resolve(KEYS.languages);
        tellUnfinished({ claims, client: gateway.client, languages, clock, log, signal: stopSignal.signal }).catch(
          (error: unknown) => log.warn('commands that another process had begun could not be found', { error }),
        );
      }
      container.resolve(KEYS.blockage).start();
      // Listing all files removes temporary files that an earlier process has left.
      if (driver.shared === undefined)
        driver.list([]).catch((error: unknown) => log.warn('what was left unfinished could not be removed', { error }));
      if (!container.resolve(KEYS.access).membershipsAreLive()) log.info(MEMBERS_ARE_ASKED);
      log.info(`ready as ${gateway.client.user?.tag}`, { plugins: report.running, intents: gateway.intents });
      return report;
    },
    stop: () => {
      stopSignal.abort();
      stopping ??= stop();
      return stopping;
    },
    async idle() {
      const busy = boundary.inFlight() > 0 || discordSync.busy();
      await boundary.drained(IDLE_MS);
      await plugins.idle();
      await discordSync.idle();
      return (await container.resolve(KEYS.notices).idle()) || busy;
    },
  };
}

const MEMBERS_ARE_ASKED =
  'no plugin asks for the Server Members Intent, so Discord does not tell of roles taken away or members who leave: who may read what is asked of Discord with each call';

/** @param process its name in a cluster */
const crashAlert = (process: string | undefined): OwnerAlert => ({
  kind: 'restart-after-crash',
  text: () =>
    process === undefined
      ? t(
          'The bot was started again after a run that did not stop cleanly: it crashed, was killed, ran out of memory, or the power failed.',
        )
      : t(
          'The process {process} was started again after a run that did not stop cleanly: it crashed, was killed, ran out of memory, or the power failed.',
          { process },
        ),
  remedy: () => t('The end of the error log, and the log of the system (`journalctl`, `docker logs`), say which.'),
});

/** One step of a stop. */
interface Phase {
  /** Its name in the log: `saving`. */
  readonly name: string;
  readonly limitMs: number;
  readonly run: () => unknown;
}

/**
 * Runs steps one after another. One that fails, or exceeds its time limit, is logged, and the next one starts.
 * @returns the names of those that did not finish
 */
async function runPhases(
  phases: readonly Phase[],
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<readonly string[]> {
  const unfinished: string[] = [];
  for (const { name, limitMs, run } of phases) {
    try {
      const { inTime } = await withinLimit(clock, limitMs, Promise.resolve().then(run));
      if (inTime) continue;
      log.warn(`stopping: ${name} took longer than ${limitMs / 1000} s and was cut short`);
    } catch (error) {
      log.error(`stopping: ${name} failed`, { error });
    }
    unfinished.push(name);
  }
  return unfinished;
}
