import { createReadStream } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type BackupFile,
  type Backups,
  type Clock,
  createKeyedMutex,
  type Logger,
  t,
  UserError,
  type VerifiedBackup,
} from '@cinnabar/sdk';
import type { HostConfig } from '../config/host-config.js';
import type { SecretKeys } from '../storage/catalog/fields.js';
import type { Driver } from '../storage/driver.js';
import { isWithin, WORK } from '../storage/paths.js';
import { HOST_VERSION } from '../version.js';
import { type Manifest, type OnProgress, readArchive, writeArchive } from './archive.js';
import { finishRestore } from './restore.js';
import { isStored, openSnapshot, type Snapshot, writeAsFiles } from './snapshot.js';

const SNAPSHOT = `${WORK}snapshot`;
/** Folder for the files that a backup exports from a database. */
const EXPORT = `${WORK}stored`;
const FOLDER = 'backups';

type Places = Pick<HostConfig, 'dataDir' | 'cacheDir' | 'buildCacheDir' | 'logDir' | 'botName'>;

interface BackupContents {
  readonly withSecrets: boolean;
  /** Which settings of each plugin are secret. */
  readonly secrets: ReadonlyMap<string, SecretKeys>;
  readonly plugins: Manifest['plugins'];
  readonly now: number;
  readonly onProgress?: OnProgress | undefined;
  /** Where documents and journals are. */
  readonly driver: Pick<Driver, 'frozen'>;
}

/** Backs up a bot's data into a file, whether the bot runs in this process or is stopped and the caller holds the lock. */
export async function backUp(file: string, places: Places, contents: BackupContents): Promise<Manifest> {
  const { dataDir, cacheDir, buildCacheDir, logDir, botName } = places;
  const { withSecrets, secrets, plugins, now, onProgress, driver } = contents;
  checkPlace(file, dataDir);
  const { frozen } = driver;
  await using snapshot = await openSnapshot({
    dataDir,
    workDir: join(dataDir, SNAPSHOT),
    excluded: [cacheDir, buildCacheDir, logDir],
    // Documents and journals in files are outdated where a database is configured: they remain from an earlier storage.
    ...(frozen === undefined ? {} : { isIncluded: (path) => !isStored(path) }),
    withSecrets,
    secrets,
  });
  await using stored = frozen === undefined ? undefined : await openStored(frozen, dataDir, { withSecrets, secrets });
  const files = [...snapshot.files, ...(stored?.files ?? [])].sort((one, other) => (one.path < other.path ? -1 : 1));
  const leftOut = [...snapshot.leftOut, ...(stored?.leftOut ?? [])].sort();
  const about = {
    host: HOST_VERSION,
    createdAt: now,
    bot: botName ?? null,
    withSecrets,
    leftOut,
    plugins: [...plugins],
  };
  return await writeArchive(file, files, about, onProgress);
}

/** Exports the content of a database to files, for as long as they are needed. */
async function openStored(
  frozen: NonNullable<Driver['frozen']>,
  dataDir: string,
  options: Pick<BackupContents, 'withSecrets' | 'secrets'>,
): Promise<Snapshot> {
  const folder = join(dataDir, EXPORT);
  const remove = () => rm(folder, { recursive: true, force: true });
  await remove();
  try {
    const data = join(folder, 'data');
    await frozen((contents) => writeAsFiles(contents, data));
    const snapshot = await openSnapshot({ dataDir: data, workDir: join(folder, 'work'), excluded: [], ...options });
    return { ...snapshot, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** @throws UserError for a place inside the data, where each backup would contain the one before */
function checkPlace(file: string, dataDir: string): void {
  if (!isWithin(file, dataDir) || isWithin(file, join(dataDir, FOLDER))) return;
  throw new UserError(
    t('A backup cannot be inside the data that it copies: choose a folder outside {dataDir}, or its folder {folder}.', {
      dataDir,
      folder: FOLDER,
    }),
  );
}

/** Finishes a restore that an earlier process has left, and removes what is left of a backup. Called before the data are read. */
export async function recoverData(dataDir: string): Promise<void> {
  await finishRestore(dataDir);
  for (const folder of [SNAPSHOT, EXPORT]) await rm(join(dataDir, folder), { recursive: true, force: true });
}

interface BackupsOptions {
  readonly config: Places & Pick<HostConfig, 'root'>;
  readonly driver: Pick<Driver, 'frozen'>;
  readonly contents: () => Pick<BackupContents, 'secrets' | 'plugins'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

const UNFINISHED = '.new';

/** Backups of the running bot's data. */
export function createBackups({ config, driver, contents, clock, log }: BackupsOptions): Backups {
  const mutex = createKeyedMutex();
  const oneAtATime = <T>(task: () => Promise<T>) => mutex.run('', task);
  const names = namesOf(config.botName);
  const folderOf = (folder: string | undefined) =>
    folder === undefined ? join(config.dataDir, FOLDER) : resolve(config.root, folder);
  const filesIn = async (folder: string): Promise<readonly string[]> => {
    try {
      return await readdir(folder);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
      throw error;
    }
  };
  const list = async (folder: string): Promise<readonly BackupFile[]> => {
    const found: BackupFile[] = [];
    for (const name of await filesIn(folder)) {
      const parts = names.read(name);
      // A link without a target, or a file that was deleted meanwhile, is no backup.
      const entry = parts === undefined ? undefined : await stat(join(folder, name)).catch(() => undefined);
      if (parts !== undefined && entry?.isFile() === true) found.push({ name, ...parts, bytes: entry.size });
    }
    return found.sort((one, other) => other.createdAt - one.createdAt);
  };
  const verified = async (folder: string, name: string, manifest?: Manifest): Promise<VerifiedBackup> => {
    const parts = names.read(name);
    const file = join(folder, name);
    if (parts === undefined || !(await filesIn(folder)).includes(name))
      throw new UserError(t('There is no backup called {name}.', { name }));
    const { files, withSecrets, leftOut, host } = manifest ?? (await readArchive(file));
    return { name, ...parts, bytes: (await stat(file)).size, files: files.length, withSecrets, leftOut, host };
  };

  return {
    create: ({ folder: wanted, withSecrets = false, scheduled = false, onProgress } = {}) =>
      oneAtATime(async () => {
        const folder = folderOf(wanted);
        const now = clock.now();
        const name = names.make(now, scheduled);
        const options = { ...contents(), driver, withSecrets, now, onProgress };
        const manifest = await backUp(join(folder, name), config, options);
        const backup = await verified(folder, name, manifest);
        log.info('the data were backed up', { name, folder, files: backup.files, bytes: backup.bytes, withSecrets });
        return backup;
      }),
    list: (folder) => list(folderOf(folder)),
    verify: (name, folder) => oneAtATime(() => verified(folderOf(folder), name)),
    async open(name, wanted) {
      const folder = folderOf(wanted);
      const backup = await oneAtATime(() => verified(folder, name));
      if (backup.withSecrets)
        throw new UserError(t('That backup has secrets in it. It can only be copied from where the bot runs.'));
      return { ...backup, read: () => createReadStream(join(folder, name)) };
    },
    prune: (keep, wanted) =>
      oneAtATime(async () => {
        const folder = folderOf(wanted);
        const old = (await list(folder)).filter(({ scheduled }) => scheduled).slice(Math.max(1, keep));
        // A temporary file of a process that was killed during a backup.
        const unfinished = (await filesIn(folder)).filter(
          (name) => name.endsWith(UNFINISHED) && names.read(name.slice(0, -UNFINISHED.length)) !== undefined,
        );
        for (const name of [...old.map(({ name }) => name), ...unfinished]) await rm(join(folder, name));
        return old.map(({ name }) => name);
      }),
  };
}

/** Names of a bot's backups: `cinnabar-claude-20261122T231500123Z-auto.tar.gz`. Several bots may share a folder. */
function namesOf(botName: string | undefined) {
  const prefix = botName === undefined ? 'cinnabar-' : `cinnabar-${botName}-`;
  const form = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z(-auto)?\.tar\.gz$/;
  return {
    make: (at: number, scheduled: boolean) =>
      `${prefix}${new Date(at).toISOString().replaceAll(/[-:.]/g, '')}${scheduled ? '-auto' : ''}.tar.gz`,
    read(name: string): Pick<BackupFile, 'createdAt' | 'scheduled'> | undefined {
      const parts = name.startsWith(prefix) ? form.exec(name.slice(prefix.length)) : null;
      if (parts === null) return undefined;
      const [, year, month, day, hour, minute, second, ms, auto] = parts;
      const createdAt = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
      return Number.isNaN(createdAt) ? undefined : { createdAt, scheduled: auto !== undefined };
    },
  };
}
