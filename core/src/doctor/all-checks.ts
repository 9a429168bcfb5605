import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type CheckResult,
  type Clock,
  type Configuration,
  createDeadline,
  type DoctorFinding,
  diskTroubleOf,
  diskTroubleText,
  type Logger,
  operatorSentenceOf,
  type Plugin,
  t,
  translated,
  withinLimit,
} from '@cinnabar/sdk';
import { version as discordVersion, type GatewayIntentsString } from 'discord.js';
import { satisfies } from 'semver';
import { type ConfigurationService, createConfiguration } from '../config/configuration.js';
import type { HostConfig } from '../config/host-config.js';
import type { StorageService } from '../contracts.js';
import { holderOf } from '../data-lock/lock.js';
import { readEnvironment } from '../plugins/context.js';
import type { PostgresOptions } from '../storage/drivers/postgres/connection.js';
import { examineDatabase, LEAST_SERVER } from '../storage/drivers/postgres/database.js';
import { HOST_VERSION } from '../version.js';
import { discordChecks } from './discord-checks.js';

interface CheckedHost {
  readonly config: HostConfig;
  readonly clock: Clock;
  readonly intents: () => readonly GatewayIntentsString[];
  readonly plugins: readonly LoadedPlugin[];
  isOnIn(guildId: string, plugin: Plugin): Promise<boolean>;
  readonly storage: Pick<StorageService, 'settingsOf'>;
  readonly configuration: Pick<Configuration, 'layers'>;
  /** The environment that plugins read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
}

/** The list of checks for both `!doctor` in the running bot and `cinnabar doctor`. */
export function allChecks(parts: CheckedHost): readonly Check[] {
  const { config, clock, intents, plugins, isOnIn, storage, configuration, environment, log } = parts;
  const { configDir: dir, root, botName } = config;
  // A configuration for this check alone: plugins' registrations in it are discarded with it.
  const fresh = createConfiguration({ dir, root, botName, clock, log, watch: () => () => undefined });
  const declared = plugins.map(({ plugin }) => plugin);
  const checked = declared.map((plugin) => ({
    manifest: plugin.manifest,
    isOnIn: (guildId: string) => isOnIn(guildId, plugin),
  }));
  return [
    ...hostChecks(config),
    configurationCheck(fresh, declared),
    ...discordChecks({ config, clock, intents, plugins: () => checked }),
    ...pluginChecks(plugins, { storage, configuration, clock, environment }),
  ];
}

interface CheckedPlugins {
  readonly storage: Pick<StorageService, 'settingsOf'>;
  readonly configuration: Pick<Configuration, 'layers'>;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A plugin, and whether it comes with the host. */
export interface LoadedPlugin {
  readonly plugin: Plugin;
  readonly isBundled: boolean;
}

/** The plugins' own checks. */
function pluginChecks(
  plugins: readonly LoadedPlugin[],
  { storage, configuration, clock, environment }: CheckedPlugins,
): readonly Check[] {
  return plugins.flatMap(({ plugin, isBundled }) => {
    if (plugin.checks === undefined) return [];
    return {
      about: plugin.manifest.id,
      scope: 'plugin',
      run: async (signal) =>
        plugin.checks?.({
          settings: storage.settingsOf(plugin),
          env: readEnvironment(plugin, isBundled, environment),
          configuration,
          clock,
          signal,
        }) ?? [],
    };
  });
}

/**
 * The subject of a finding. `bot`: the bot as a whole, so that one process checks it for all. `process`: the process, with its files and its network.
 * `plugin`: the environment of the process as a plugin needs it, which usually is the same in all.
 */
export type FindingScope = 'bot' | 'process' | 'plugin';

export interface ScopedFinding extends DoctorFinding {
  readonly scope: FindingScope;
}

/** One thing to look at. */
export interface Check {
  /** `Discord`, `data`, or a plugin's id. */
  readonly about: string;
  readonly scope: FindingScope;
  run(signal: AbortSignal): Promise<readonly CheckResult[]> | readonly CheckResult[];
}

/** Time limit of one check. */
export const CHECK_LIMIT_MS = 15_000;

interface ExamineOptions {
  readonly clock: Clock;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
}

/** Runs all checks at once, each with its time limit. An error of a check is a finding, too. Never rejects. */
export async function examine(
  checks: readonly Check[],
  { clock, redact }: ExamineOptions,
): Promise<readonly ScopedFinding[]> {
  const found = await Promise.all(
    checks.map(async ({ about, scope, run }) =>
      (await resultsOf(run, clock)).map((result) => ({ about, scope, ...result })),
    ),
  );
  return found.flat().map(({ about, scope, ok, text, remedy }) => ({
    about,
    scope,
    ok,
    text: redact(text),
    ...(ok || remedy === undefined ? {} : { remedy: redact(remedy) }),
  }));
}

async function resultsOf(run: Check['run'], clock: Clock): Promise<readonly CheckResult[]> {
  const deadline = createDeadline(clock, CHECK_LIMIT_MS, []);
  try {
    const work = Promise.resolve(run(deadline.signal));
    const limited = await withinLimit(clock, CHECK_LIMIT_MS, work);
    if (limited.inTime) return limited.value;
    return [
      {
        ok: false,
        text: t('There was no answer within {seconds} s.', { seconds: CHECK_LIMIT_MS / 1_000 }),
        remedy: NETWORK(),
      },
    ];
  } catch (error) {
    const because = operatorSentenceOf(error) ?? (error instanceof Error ? reasonOf(error) : String(error));
    return [{ ok: false, text: t('This could not be checked: {because}', { because }), remedy: NETWORK() }];
  } finally {
    deadline.end();
  }
}

const NETWORK = () => t('Look at the address, and at the network of the machine.');

/** The message of an error with that of its cause: `fetch failed` alone is uninformative. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

/** Same as `engines` in the package. */
const NODE = '^20.19 || >=22.12';
/** With less space, the logs and data of a busy week may not fit. */
const LITTLE_MEGABYTES = 500;
const MEGABYTE = 1_000_000;

/** Checks of the program and of its data folder. */
function hostChecks({ dataDir, storage }: Pick<HostConfig, 'dataDir' | 'storage'>): readonly Check[] {
  return [
    { about: t('program'), scope: 'process', run: checkVersions },
    {
      about: t('data'),
      scope: 'process',
      run: async () => [await checkWriting(dataDir), await checkSpace(dataDir), checkLock(dataDir)],
    },
    ...(storage === undefined
      ? []
      : [{ about: t('database'), scope: 'bot', run: () => checkDatabase(storage) } as const]),
  ];
}

/** Reads all configuration files, and validates the plugins' keys in them. Uses a separate configuration. */
function configurationCheck(configuration: ConfigurationService, plugins: readonly Plugin[]): Check {
  return {
    about: t('configuration'),
    scope: 'process',
    async run() {
      for (const plugin of plugins) if (plugin.configuration !== undefined) configuration.declare(plugin.configuration);
      try {
        await configuration.start();
      } finally {
        configuration.stop();
      }
      return [{ ok: true, text: t('The files of the configuration are right') }];
    },
  };
}

function checkVersions(): readonly CheckResult[] {
  const node = process.versions.node;
  return [
    {
      ok: satisfies(node, NODE),
      text: t('Cinnabar {host}, discord.js {discord}, Node {node}', {
        host: HOST_VERSION,
        discord: discordVersion,
        node,
      }),
      remedy: t('Install Node 20.19, 22.12 or newer.'),
    },
  ];
}

async function checkWriting(dataDir: string): Promise<CheckResult> {
  if (!existsSync(dataDir)) return { ok: true, text: t('There is no data yet: the first start makes the folder') };
  const probe = join(dataDir, `.doctor-${randomUUID()}`);
  try {
    await writeFile(probe, 'x', { mode: 0o600 });
    return { ok: true, text: t('The folder of the data can be written to') };
  } catch (error) {
    return {
      ok: false,
      text: t('The folder of the data cannot be written to: {reason}', {
        reason: error instanceof Error ? error.message : String(error),
      }),
      remedy: t(
        'Give the user that runs the bot the right to write there, or choose another folder with CINNABAR_DATA.',
      ),
    };
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}

async function checkSpace(dataDir: string): Promise<CheckResult> {
  const { bavail, bsize } = await statfs(nearestFolder(dataDir));
  const megabytes = Math.floor((bavail * bsize) / MEGABYTE);
  return {
    ok: megabytes >= LITTLE_MEGABYTES,
    text: t('{megabytes, number} MB are free on the disk of the data', { megabytes }),
    remedy: t('Free some space: nothing can be saved on a full disk. `host.logMegabytes` bounds the logs.'),
  };
}

async function checkDatabase(storage: PostgresOptions): Promise<readonly CheckResult[]> {
  const { schema } = storage;
  try {
    const { server: version, major, tables, mayWrite } = await examineDatabase(storage);
    if (major < LEAST_SERVER) {
      const text = t('PostgreSQL {version} is too old', { version });
      return [{ ok: false, text, remedy: t('Install PostgreSQL 13 or newer.') }];
    }
    const answers =
      tables === 0
        ? t('The database answers: PostgreSQL {version}; the first start makes the tables in the schema {schema}', {
            version,
            schema,
          })
        : t('The database answers: PostgreSQL {version}, tables of version {tables} in the schema {schema}', {
            version,
            tables: String(tables),
            schema,
          });
    return [{ ok: true, text: answers }, rightsResult(schema, tables, mayWrite)];
  } catch (error) {
    return [
      {
        ok: false,
        text: t('The database cannot be used: {reason}', {
          reason: operatorSentenceOf(error) ?? diskTroubleText(error),
        }),
        remedy: translated(
          diskTroubleOf(error)?.remedy ?? t('See the log of the database, and docs/operators/postgresql.md.'),
        ),
      },
    ];
  }
}

function rightsResult(schema: string, tables: number, mayWrite: boolean): CheckResult {
  if (!mayWrite) {
    const text = t('The user of the database may not write in the schema {schema}', { schema });
    return { ok: false, text, remedy: t('Give it the rights that docs/operators/postgresql.md lists.') };
  }
  const text =
    tables === 0
      ? t('The schema {schema} can be made', { schema })
      : t('The tables of the schema {schema} can be written to', { schema });
  return { ok: true, text };
}

function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));
}

function checkLock(dataDir: string): CheckResult {
  const holder = holderOf(dataDir);
  if (holder === undefined) return { ok: true, text: t('No bot is running on this data') };
  switch (holder.state) {
    case 'running':
      return { ok: true, text: t('The data is in use by {holder}', { holder: holder.words }) };
    case 'gone':
      return { ok: true, text: t('The last run did not stop cleanly; the next start takes the data over') };
    case 'unknown':
      return {
        ok: true,
        text: t('The data may be in use by {holder}, which cannot be seen from here', { holder: holder.words }),
      };
  }
}
