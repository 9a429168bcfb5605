import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  type LocalApplication,
  type LocalChannel,
  type LocalDiscord,
  type LocalGuild,
  type LocalUser,
  type PermissionSet,
  startLocalDiscord,
} from '@cinnabar/local-discord';
import {
  type CinnabarError,
  defined,
  type HostEnd,
  type Language,
  type Plugin,
  type Random,
  type Token,
} from '@cinnabar/sdk';
import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
import type { Client } from 'discord.js';
import { createSettled } from '../cli/console/stage.js';
import type { Assignment } from '../cluster/assignment.js';
import type { HostConfig } from '../config/host-config.js';
import { createHost } from '../host.js';
import { NO_LOG } from '../observability/no-log.js';
import { placeForAuthor, rootMessage } from '../plugins/author-error.js';
import { bundledFolders } from '../plugins/discovery.js';
import { createDefinitionPool } from '../plugins/loader.js';
import type { PluginManager } from '../plugins/manager.js';
import type { Driver, SharedDocuments } from '../storage/driver.js';
import { openDriver } from '../storage/drivers/open-driver.js';

export interface TestHostOptions {
  /** Ids of bundled plugins, plugin folders, or plugins as `definePlugin` returns them. No other plugin is started. */
  readonly plugins: readonly (string | Plugin)[];
  /** Values for plugins' global settings, by plugin. */
  readonly settings?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The bot's permissions in the guild; those of a moderator by default. */
  readonly permissions?: PermissionSet;
  /** Data folder: pass the folder of an earlier host to start again with its data. By default a new one, removed at the end. */
  readonly dataDir?: string;
  /** A folder with YAML files of the configuration; none by default. */
  readonly configDir?: string;
  /** Prefixes in the form of `loadConfig`; `!` by default. */
  readonly prefixes?: Pick<HostConfig, 'prefixes' | 'ownPrefixes'>;
  /**
   * Whether warnings and errors of the plugins under test are printed on standard error, each with its line in your code. By default they are, except those of
   * bundled plugins; tests that cause errors on purpose switch this off. `log` has all entries.
   */
  readonly printErrors?: boolean;
  /** Whether the log is also written to files, in `logs` of the data folder, for tests of code that reads them. By default it is not. */
  readonly logFiles?: boolean;
  /** `debug` by default. */
  readonly logLevel?: HostConfig['logLevel'];
  /** The bot's name, like that of `--bot`; the data are still in `dataDir`. */
  readonly botName?: string;
  /** Another storage driver, for instance one that fails. */
  readonly driver?: Driver;
  /** The servers that the host serves as one of the hosts of a cluster. */
  readonly assignment?: Assignment;
  /** The world of an earlier host, for a restart in the same guild. */
  readonly world?: TestWorld;
  readonly clock?: ManualClock;
  /** The values of `Random`; random by default. */
  readonly random?: Random;
  /** Serves health and metrics on a loopback port: see `monitoringUrl`. */
  readonly monitoring?: boolean;
}

/** A local Discord with a guild, a channel and people in it. */
export interface TestWorld {
  readonly discord: LocalDiscord;
  readonly application: LocalApplication;
  readonly guild: LocalGuild;
  readonly general: LocalChannel;
  /** Owner of the guild and of the bot. */
  readonly you: LocalUser;
  readonly alice: LocalUser;
  readonly bob: LocalUser;
  readonly clock: ManualClock;
}

/** A log entry, without secrets. */
export interface TestLogEntry {
  readonly level: 'error' | 'warn' | 'info' | 'debug' | 'trace';
  /** Id of the plugin that the entry is about, or a part of the host. */
  readonly plugin: string;
  readonly message: string;
  /** The message of the deepest cause of an error that was logged with it. */
  readonly error: string | undefined;
}

/** The real host, logged in to a local Discord with the real discord.js. */
export interface TestHost extends TestWorld, AsyncDisposable {
  /** The bot's user. */
  readonly bot: LocalUser;
  readonly client: Client;
  readonly plugins: PluginManager;
  readonly dataDir: string;
  /** Everything that was logged, in order. */
  readonly log: readonly TestLogEntry[];
  /** The requests of owners with `!bot restart` and `!bot shutdown`: the host only records them. */
  readonly endRequests: readonly HostEnd[];
  /** See `Host.ended`. */
  readonly ended: Promise<CinnabarError>;
  /** `http://127.0.0.1:…`, when monitoring was requested. */
  readonly monitoringUrl: string | undefined;
  /** A service, as a plugin would inject it. */
  resolve<T>(token: Token<T>): T;
  /** Resolves when the bot has finished everything that follows from past events. */
  settled(): Promise<void>;
  /** Moves the clock, then waits like `settled`. */
  advance(ms: number): Promise<void>;
  /** Stops the bot; the world and the data stay for another host. Disposing removes everything. */
  stop(): Promise<void>;
}

const pool = createDefinitionPool();
let defaultLanguage: Language | undefined;

/** Sets the default language of hosts that are created from now on: for the hooks of a test runner. `undefined` for English. */
export function speakByDefault(language: Language | undefined): void {
  defaultLanguage = language;
}

let databaseOf: ((dataDir: string) => Promise<HostConfig['storage']>) | undefined;

/** Sets the database that stores the data of hosts that are created from now on: for the hooks of a test runner. `undefined` for files. */
export function storeByDefault(database: typeof databaseOf): void {
  databaseOf = database;
}

let printsErrors = true;

/** Sets whether hosts that are created from now on print the errors of their plugins when a test does not set `printErrors`: for the hooks of a test runner. */
export function printErrorsByDefault(printed: boolean): void {
  printsErrors = printed;
}

/**
 * Starts the real host for a test. Rejects when one of the plugins does not start.
 * @example
 * await using host = await createTestHost({ plugins: [myPlugin] });
 * host.alice.say(host.general, '!roll');
 * await host.settled();
 * await host.discord.expectMessage({ author: host.bot, content: /🎲/ });
 */
export async function createTestHost(options: TestHostOptions): Promise<TestHost> {
  const world = options.world ?? (await createWorld(options.clock ?? createManualClock(), options.permissions));
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'cinnabar-test-')));
  const storage = await databaseOf?.(dataDir);
  const driver =
    options.driver ?? (storage === undefined ? undefined : openDriver({ storage, dataDir }, NO_LOG, 'alone'));
  const tracked = driver?.shared === undefined ? undefined : createTrackedDriver(driver);
  const endRequests: HostEnd[] = [];
  const own = new Set(
    options.plugins.map((plugin) => (typeof plugin === 'string' ? basename(plugin) : plugin.manifest.id)),
  );
  const bundled = new Set(bundledFolders().map((folder) => basename(folder).replace(/^plugin-/, '')));
  const isUnderTest = (plugin: string) => own.has(plugin) && !bundled.has(plugin);
  const log: TestLogEntry[] = [];
  const trouble = new Map<string, string>();
  const { printErrors = printsErrors } = options;
  const definitions = pool.borrow();
  const host = createHost({
    clock: world.clock,
    ...defined({ random: options.random }),
    onLogEntry({ level, component, message, fields }) {
      const plugin = typeof fields.plugin === 'string' ? fields.plugin : component;
      const because = rootMessage(fields.error);
      log.push({ level, plugin, message, error: because });
      if ((level !== 'error' && level !== 'warn') || !isUnderTest(plugin)) return;
      const text = because === undefined || message.includes(because) ? message : `${message}: ${because}`;
      const place = placeForAuthor(fields.error, process.cwd());
      if (place !== undefined) trouble.set(plugin, place);
      if (printErrors) process.stderr.write(`${[`${level} ${plugin}: ${text}`, place].filter(Boolean).join('\n')}\n`);
    },
    logFiles: options.logFiles ?? false,
    onEndRequest: (how) => void endRequests.push(how),
    config: {
      token: world.application.token,
      discordApi: world.discord.api,
      root: process.cwd(),
      botName: options.botName,
      configDir: options.configDir ?? join(dataDir, 'config'),
      dataDir,
      cacheDir: join(dataDir, 'cache'),
      // Shared by the hosts of a test run, since building the bundled plugins takes longer than most tests.
      buildCacheDir: process.env.BUILD_CACHE_PATH ?? join(dataDir, 'cache'),
      logDir: join(dataDir, 'logs'),
      logLevel: options.logLevel ?? 'debug',
      prefixes: options.prefixes?.prefixes ?? ['!'],
      ownPrefixes: options.prefixes?.ownPrefixes ?? [],
      owners: [],
      pluginFolders: [],
      monitoring: options.monitoring === true ? { host: '127.0.0.1', port: 0 } : undefined,
      disabledPlugins: [],
      presets: options.settings ?? {},
      presetPlace: (plugin, key) => `${plugin}.${key}`,
      env: options.env ?? {},
      ...defined({ storage }),
    },
    builtPlugins: definitions.builtPlugins,
    reusePlugin: definitions.reuse,
    plugins: options.plugins.filter((plugin) => typeof plugin !== 'string'),
    only: options.plugins.map((plugin) => (typeof plugin === 'string' ? plugin : plugin.manifest.id)),
    ...defined({ driver: tracked?.driver ?? driver, assignment: options.assignment }),
    ...(defaultLanguage === undefined ? {} : { language: defaultLanguage }),
  });
  const discord = tracked === undefined ? world.discord : settlingWith(tracked, world.discord);
  const settledBot = createSettled(discord, host);
  const settled = async () => {
    do await settledBot();
    while ((await tracked?.idle()) === true);
  };
  const stop = async () => {
    await host.stop();
    definitions.giveBack();
  };
  const close = async () => {
    await stop();
    // A world or data folder of the caller is kept.
    if (options.world === undefined) await world.discord.close();
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const { problems } = await host.start(world.application.token);
    if (problems.length > 0) {
      const lines = problems.flatMap(({ plugin, problem }) => [`${plugin}: ${problem}`, trouble.get(plugin) ?? '']);
      throw new Error(lines.filter(Boolean).join('\n'));
    }
    await settled();
  } catch (error) {
    await close();
    throw error;
  }

  return {
    ...world,
    discord,
    bot: world.application.user,
    client: host.client,
    plugins: host.plugins,
    dataDir,
    log,
    endRequests,
    ended: host.ended,
    monitoringUrl: host.monitoringUrl,
    resolve: host.resolve,
    settled,
    async advance(ms) {
      world.clock.advance(ms);
      await settled();
    },
    stop,
    [Symbol.asyncDispose]: close,
  };
}

/** A local Discord whose `settled` also waits for the database, which answers later than files. */
function settlingWith({ idle }: Pick<TrackedDriver, 'idle'>, discord: LocalDiscord): LocalDiscord {
  return {
    ...discord,
    async settled(timeoutMs) {
      do await discord.settled(timeoutMs);
      while (await idle());
    },
  };
}

async function createWorld(clock: ManualClock, permissions: PermissionSet | undefined): Promise<TestWorld> {
  const discord = await startLocalDiscord({ clock });
  const you = discord.createUser({ name: 'you' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application, permissions === undefined ? {} : { permissions });
  const general = guild.createChannel({ name: 'general' });
  const [alice, bob] = [discord.createUser({ name: 'alice' }), discord.createUser({ name: 'bob' })];
  guild.join(alice);
  guild.join(bob);
  return { discord, application, guild, general, you, alice, bob, clock };
}

/** A driver, and a function that waits until it has no pending request. */
interface TrackedDriver {
  readonly driver: Driver;
  /** Resolves when no request is pending; with `true` when it had to wait. */
  idle(): Promise<boolean>;
}

function createTrackedDriver(driver: Driver): TrackedDriver {
  const pending = new Set<Promise<unknown>>();
  const track = <T>(operation: Promise<T>): Promise<T> => {
    const done = operation.then(
      () => undefined,
      () => undefined,
    );
    pending.add(done);
    void done.then(() => pending.delete(done));
    return operation;
  };
  const sharing = (shared: SharedDocuments): SharedDocuments => ({
    ...shared,
    read: (path) => track(shared.read(path)),
    replace: (path, stored, revision) => track(shared.replace(path, stored, revision)),
  });
  const tracked: Driver = {
    ...driver,
    ...(driver.shared === undefined ? {} : { shared: sharing(driver.shared) }),
    read: (path) => track(driver.read(path)),
    write: (path, stored) => track(driver.write(path, stored)),
    delete: (path) => track(driver.delete(path)),
    erase: (path) => track(driver.erase(path)),
    list: (prefix, whose) => track(driver.list(prefix, whose)),
    setAside: (path) => track(driver.setAside(path)),
    keep: (path, label) => track(driver.keep(path, label)),
    journal(path, guildId) {
      const medium = driver.journal(path, guildId);
      return {
        name: medium.name,
        read: () => track(medium.read()),
        add: (lines) => track(medium.add(lines)),
        replace: (lines) => track(medium.replace(lines)),
        get size() {
          return medium.size;
        },
        keepCopy: (label) => track(medium.keepCopy(label)),
        eraseCopies: (isConcerned) => track(medium.eraseCopies(isConcerned)),
        erase: () => track(medium.erase()),
        release: () => medium.release(),
      };
    },
  };
  return {
    driver: tracked,
    async idle() {
      const busy = pending.size > 0;
      while (pending.size > 0) await Promise.all(pending);
      return busy;
    },
  };
}
