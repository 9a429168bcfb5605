import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile, syncFolder, t, UserError, z } from '@cinnabar/sdk';
import semver from 'semver';
import { createSystemClock } from '../clock/clock.js';
import { NO_LOG } from '../observability/no-log.js';
import type { Driver } from '../storage/driver.js';
import { createFileDriver } from '../storage/drivers/file-driver.js';
import { ENCRYPTED_SECRETS, isData, KEPT_ASIDE, placeIn, SECRETS_FILE, WORK } from '../storage/paths.js';
import { HOST_VERSION } from '../version.js';
import { type Manifest, type OnProgress, readArchive } from './archive.js';
import { documentsIn, isStored, removeStored, writeAsFiles } from './snapshot.js';

/** The folder that a restore works in, below the data. */
const RESTORE = `${WORK}restore`;
const PLAN = 'plan.json';
const STAGED = 'files';
/** Name of the exported database content within the kept data. No entry of the data has this name. */
const OF_DATABASE = `${WORK}database`;
/** Disk space that must stay free in addition to the restored data. */
const SPARE_BYTES = 64 * 1024 * 1024;

const planSchema = z.object({
  /** Folder, below the data, that receives the previous data. */
  aside: z.string().startsWith(KEPT_ASIDE),
  /** The checked replacement: the entries directly below the data. */
  entries: z.array(z.string()),
  keepSecrets: z.boolean(),
});

interface Restored {
  readonly manifest: Manifest;
  /** Where the previous data are kept; `undefined` when there were none. */
  readonly aside: string | undefined;
  /** Documents that could not be read and are not in the database. */
  readonly damaged: readonly string[];
}

interface RestoreOptions {
  readonly dataDir: string;
  readonly now: number;
  readonly onProgress?: OnProgress;
  /** The storage of documents and journals when they are not in files. */
  readonly driver?: Pick<Driver, 'frozen' | 'replaceAll'>;
}

/**
 * Puts a backup in the place of the data of a bot that is stopped: the caller holds the lock. Everything is unpacked beside the data and checked first; then a
 * plan is written. If the process dies after that, the next start continues (`finishRestore`). Before the plan the old data are in effect, after it the new
 * ones.
 * @throws UserError about the archive: the data have not changed then
 */
export async function restoreBackup(
  file: string,
  { dataDir, now, onProgress, driver }: RestoreOptions,
): Promise<Restored> {
  await finishRestore(dataDir);
  const work = join(dataDir, RESTORE);
  const staged = join(work, STAGED);
  await rm(work, { recursive: true, force: true });
  await mkdir(staged, { recursive: true, mode: 0o700 });
  let manifest: Manifest;
  try {
    manifest = await readArchive(file, {
      onManifest: (announced) => checkManifest(announced, dataDir),
      onFile: ({ path }, content) => unpack(placeIn(staged, path), content),
      ...(onProgress === undefined ? {} : { onProgress }),
    });
    await syncAll(staged);
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    throw error;
  }
  const aside = freeName(dataDir, `${KEPT_ASIDE}${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`);
  let damaged: readonly string[];
  try {
    damaged = await replaceStored(staged, join(dataDir, aside), manifest, driver);
  } catch (error) {
    for (const folder of [work, join(dataDir, aside)]) await rm(folder, { recursive: true, force: true });
    throw error;
  }
  const entries = await readdir(staged);
  const plan: z.output<typeof planSchema> = {
    aside,
    entries,
    keepSecrets: !entries.includes(SECRETS_FILE),
  };
  await syncFolder(work);
  await syncFolder(dataDir);
  await replaceFile(join(work, PLAN), JSON.stringify(plan));
  await finishRestore(dataDir);
  const kept = join(dataDir, plan.aside);
  return { manifest, aside: existsSync(kept) ? kept : undefined, damaged };
}

/**
 * Writes documents and journals into the database in one transaction, and keeps its previous content aside. A process that is killed right after it leaves the
 * data files unchanged: the restore is then repeated. A backup without documents leaves the database unchanged.
 */
async function replaceStored(
  staged: string,
  aside: string,
  { files }: Manifest,
  { frozen, replaceAll }: Pick<Driver, 'frozen' | 'replaceAll'> = {},
): Promise<readonly string[]> {
  if (frozen === undefined || replaceAll === undefined) return [];
  if (!files.some(({ path }) => isStored(path))) return [];
  const restored = createFileDriver({
    root: documentsIn(staged),
    journals: staged,
    clock: createSystemClock(),
    log: NO_LOG,
  });
  const hasSecrets = (await restored.list(ENCRYPTED_SECRETS)).length > 0;
  await frozen(async (contents) => {
    await writeAsFiles(contents, join(aside, OF_DATABASE));
    if (hasSecrets) return;
    // A backup without secrets keeps the present secrets.
    for (const path of await contents.list(ENCRYPTED_SECRETS)) {
      const stored = await contents.read(path);
      if (stored !== undefined) await restored.write(path, stored);
    }
  });
  const damaged = await replaceAll(restored);
  await removeStored(
    staged,
    files.map(({ path }) => path),
  );
  return damaged;
}

/** @throws UserError when this version cannot read it, or the disk is too small */
async function checkManifest({ host, files }: Manifest, dataDir: string): Promise<void> {
  if (semver.valid(host) === null || semver.gt(host, HOST_VERSION))
    throw new UserError(
      t('This backup was made by Cinnabar {theirs}, and this is {ours}. Update this one first.', {
        theirs: host,
        ours: HOST_VERSION,
      }),
    );
  const needed = files.reduce((sum, { size }) => sum + size, 0) + SPARE_BYTES;
  const { bavail, bsize } = await statfs(dataDir);
  if (needed > bavail * bsize)
    throw new UserError(
      t('The disk of {folder} has too little room: {needed} MB are needed, {free} MB are free.', {
        folder: dataDir,
        needed: Math.ceil(needed / 1e6),
        free: Math.floor((bavail * bsize) / 1e6),
      }),
    );
}

async function unpack(place: string, content: AsyncIterable<Buffer>): Promise<void> {
  await mkdir(dirname(place), { recursive: true, mode: 0o700 });
  const handle = await open(place, 'wx', 0o600);
  try {
    // `write` would write only a part, without an error, when the disk is nearly full.
    for await (const chunk of content) await handle.appendFile(chunk);
  } finally {
    await handle.close();
  }
}

/** Syncs the unpacked files and their names to the disk, against a power cut. */
async function syncAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      await syncAll(path);
      continue;
    }
    const handle = await open(path, 'r+');
    await handle.sync().finally(() => handle.close());
  }
  await syncFolder(folder);
}

function freeName(dataDir: string, wanted: string): string {
  let name = wanted;
  for (let attempt = 2; existsSync(join(dataDir, name)); attempt += 1) name = `${wanted}-${attempt}`;
  return name;
}

/**
 * Finishes a restore that was checked and planned, or removes one that was not. Runs before anything else is read below the data; repeating it gives the same
 * result.
 */
export async function finishRestore(dataDir: string): Promise<void> {
  const work = join(dataDir, RESTORE);
  const plan = await planIn(work);
  if (plan === undefined) {
    if (existsSync(work)) await rm(work, { recursive: true, force: true });
    return;
  }
  const staged = join(work, STAGED);
  const aside = join(dataDir, plan.aside);
  const waiting = new Set(existsSync(staged) ? await readdir(staged) : []);
  for (const name of await readdir(dataDir)) {
    // A planned entry that is no longer in the folder of the restore has been moved already: it is new.
    const isNew = plan.entries.includes(name) && !waiting.has(name);
    if (!isData(name) || isNew || (plan.keepSecrets && name === SECRETS_FILE)) continue;
    await mkdir(aside, { recursive: true, mode: 0o700 });
    await rename(join(dataDir, name), join(aside, name));
  }
  for (const name of waiting) await rename(join(staged, name), join(dataDir, name));
  if (existsSync(aside)) await syncFolder(aside);
  if (existsSync(staged)) await syncFolder(staged);
  await syncFolder(dataDir);
  await rm(join(work, PLAN), { force: true });
  await syncFolder(work);
  await rm(work, { recursive: true, force: true });
}

async function planIn(work: string): Promise<z.output<typeof planSchema> | undefined> {
  let text: string;
  try {
    text = await readFile(join(work, PLAN), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return planSchema.parse(JSON.parse(text));
}
