import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UserError } from '@cinnabar/sdk';
import { type Manifest, readArchive } from '../backup/archive.js';
import { backUp, recoverData } from '../backup/backups.js';
import { restoreBackup } from '../backup/restore.js';
import { createSystemClock } from '../clock/clock.js';
import type { HostConfig } from '../config/host-config.js';
import { lockData } from '../data-lock/lock.js';
import { NO_LOG } from '../observability/no-log.js';
import { discoveryOf } from '../plugins/discovery.js';
import { secretKeysOf } from '../storage/catalog/fields.js';
import { dataUnusable } from '../storage/driver.js';
import { openDriver } from '../storage/drivers/open-driver.js';
import type { Arguments } from './discord.js';
import { loadAll } from './schema.js';

type Terminal = Pick<NodeJS.Process, 'cwd'> & {
  readonly stdout: Pick<NodeJS.WritableStream, 'write'>;
  readonly stderr: Pick<NodeJS.WritableStream, 'write'>;
};

/**
 * `cinnabar backup FILE` and `cinnabar backup --verify FILE`, while the bot is stopped.
 * @returns the exit code
 * @throws CINNABAR_DATA_IN_USE while it runs; UserError
 */
export async function runBackup(
  operands: readonly string[],
  options: Pick<Arguments, 'verify' | 'withSecrets'>,
  configuration: () => HostConfig,
  terminal: Terminal,
): Promise<number> {
  const { verify, withSecrets } = options;
  const file = fileOf(operands, 'It is "backup FILE" or "backup --verify FILE".', terminal);
  if (verify) {
    const manifest = await readArchive(file, { onProgress: progressOn(terminal, 'Read') });
    terminal.stdout.write(`${file} is sound: ${await wordsOf(file, manifest)}\n`);
    return 0;
  }
  const config = configuration();
  const { dataDir, buildCacheDir } = config;
  if (!existsSync(dataDir)) throw new UserError(`There are no data in ${dataDir} to back up.`);
  const discover = discoveryOf(config);
  const { plugins, problems } = await loadAll(discover, join(buildCacheDir, 'plugins'));
  for (const problem of problems) terminal.stderr.write(`${problem}\n`);
  if (problems.length > 0 && !withSecrets)
    terminal.stderr.write('Of plugins that cannot be read, settings are left out whose names sound secret.\n');
  return whileLocked(dataDir, terminal, async (now) => {
    await recoverData(dataDir);
    await using driver = opened(config);
    const manifest = await backUp(file, config, {
      driver,
      withSecrets,
      secrets: new Map(plugins.map((plugin) => [plugin.manifest.id, secretKeysOf(plugin)])),
      plugins: plugins.map(({ manifest: { id, version } }) => ({ id, version })),
      now,
      onProgress: progressOn(terminal, 'Backed up'),
    });
    const database = config.storage === undefined ? '' : ' and the database';
    terminal.stdout.write(`Backed up ${dataDir}${database} as ${file}: ${await wordsOf(file, manifest)}\n`);
    return 0;
  });
}

/**
 * `cinnabar restore FILE`, while the bot is stopped.
 * @returns the exit code
 * @throws CINNABAR_DATA_IN_USE while it runs; UserError, and the data are as they were
 */
export async function runRestore(
  operands: readonly string[],
  configuration: () => HostConfig,
  terminal: Terminal,
): Promise<number> {
  const file = fileOf(operands, 'It is "restore FILE".', terminal);
  const config = configuration();
  const { dataDir, botName } = config;
  return whileLocked(dataDir, terminal, async (now) => {
    const onProgress = progressOn(terminal, 'Unpacked');
    await using driver = opened(config);
    const { manifest, aside, damaged } = await restoreBackup(file, { dataDir, now, onProgress, driver });
    const database = config.storage === undefined ? '' : ' and the database';
    const lines = [
      `Restored ${dataDir}${database} from ${file}: ${await wordsOf(file, manifest)}`,
      ...(aside === undefined
        ? []
        : [`What was there before is in ${aside}. Remove that folder once the bot runs as it should.`]),
      ...(damaged.length === 0 ? [] : [`Could not be read, and are not in the database: ${damaged.join(', ')}.`]),
      ...(manifest.bot === (botName ?? null) ? [] : [`The backup is of ${nameOf(manifest.bot)}.`]),
      ...(manifest.leftOut.length === 0 ? [] : [`To be set again: ${manifest.leftOut.join(', ')}.`]),
    ];
    terminal.stdout.write(`${lines.join('\n')}\n`);
    return 0;
  });
}

function fileOf(operands: readonly string[], usage: string, { cwd }: Terminal): string {
  const [file, ...others] = operands;
  if (file === undefined || others.length > 0) throw new UserError(usage);
  return resolve(cwd(), file);
}

/** The storage of a bot that is stopped. Its first use throws CINNABAR_DATA_IN_USE when another process uses the database. */
function opened(config: HostConfig) {
  const driver = openDriver(config, NO_LOG, 'alone');
  return { ...driver, [Symbol.asyncDispose]: () => driver.close() };
}

/** Runs a task while this process holds the data's lock. @param task is called with the time in ms since 1970. @throws CINNABAR_DATA_IN_USE */
export async function whileLocked<T>(
  dataDir: string,
  { stderr }: Pick<Terminal, 'stderr'>,
  task: (now: number) => Promise<T>,
): Promise<T> {
  const clock = createSystemClock();
  const lock = await lockData(dataDir, clock, { onWait: (sentence) => void stderr.write(`${sentence}\n`) });
  try {
    return await task(clock.now());
  } catch (error) {
    throw error instanceof UserError ? error : (dataUnusable(dataDir, error) ?? error);
  } finally {
    lock.release();
  }
}

async function wordsOf(file: string, { files, createdAt, host, leftOut, withSecrets }: Manifest): Promise<string> {
  const { size } = await stat(file);
  const secrets = withSecrets
    ? ' With secrets: keep it safe.'
    : leftOut.length === 0
      ? ' Without stored secrets.'
      : ` Without secrets (${leftOut.join(', ')}).`;
  return `${files.length} files, ${megabytes(size)}, of ${new Date(createdAt).toISOString()} by Cinnabar ${host}.${secrets}`;
}

function nameOf(bot: string | null): string {
  return bot === null ? 'a bot without a name' : `the bot ${bot}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Progress is shown above this size: a smaller backup is finished before anyone could read it. */
const LONG_BYTES = 50_000_000;

function progressOn({ stderr }: Terminal, done: string): (bytes: number, total: number) => void {
  let shown = 0;
  return (bytes, total) => {
    const tenth = total < LONG_BYTES ? 0 : Math.floor((10 * bytes) / total);
    if (tenth <= shown || tenth >= 10) return;
    shown = tenth;
    stderr.write(`${done}: ${tenth * 10} %\n`);
  };
}
