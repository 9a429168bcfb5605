import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type CheckResult,
  diskTroubleOf,
  diskTroubleText,
  operatorSentenceOf,
  type Plugin,
  t,
  translated,
} from '@cinnabar/sdk';
import { version as discordVersion } from 'discord.js';
import { satisfies } from 'semver';
import type { ConfigurationService } from '../config/configuration.js';
import type { HostConfig } from '../config/host-config.js';
import { holderOf } from '../data-lock/lock.js';
import type { PostgresOptions } from '../storage/drivers/postgres/connection.js';
import { examineDatabase, LEAST_SERVER } from '../storage/drivers/postgres/examine.js';
import { HOST_VERSION } from '../version.js';
import type { Check } from './examine.js';

/** As in the package's `engines`. */
const NODE = '^20.19 || >=22.12';
/** With less, logs and data of a busy week may not fit. */
const LITTLE_MEGABYTES = 500;
const MEGABYTE = 1_000_000;

/** Checks of the program and of its data folder. */
export function hostChecks({ dataDir, storage }: Pick<HostConfig, 'dataDir' | 'storage'>): readonly Check[] {
  return [
    { about: t('program'), run: checkVersions },
    {
      about: t('data'),
      run: async () => [await checkWriting(dataDir), await checkSpace(dataDir), checkLock(dataDir)],
    },
    ...(storage === undefined ? [] : [{ about: t('database'), run: () => checkDatabase(storage) }]),
  ];
}

/** Reads all files of the configuration, and holds the plugins' keys in them against their schemas. The configuration is one of its own. */
export function configurationCheck(configuration: ConfigurationService, plugins: readonly Plugin[]): Check {
  return {
    about: t('configuration'),
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
