import { constants, copyFile, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { unlessAborted } from '../async/waiting.js';
import { CinnabarError } from '../errors.js';
import { t, translated } from '../text/language.js';

/**
 * Files that survive a power cut. `fsync` of a file makes its content durable, `fsync` of its folder makes its name durable, and `fsync` of the parent folder
 * makes the folder's name durable (fsync(2)). Each function here resolves when all of that has been done.
 */

/** The suffix of a file that is being written and will be renamed to its final name. */
const UNFINISHED = '.new';
/** Number of folders that are remembered as synced; others are checked again. */
const MOST_REMEMBERED = 10_000;

/** Files that this process is writing: other unfinished files were left by an earlier process. */
const inFlight = new Set<string>();
/** Folders whose whole path is synced, or about to be. */
const kept = new Map<string, Promise<void>>();
/** Per folder: the sync that runs, and the one that will follow it. */
const syncs = new Map<string, { running: Promise<void>; next: Promise<void> | undefined }>();

/** Whether the system does not support syncing folders here, as on some network file systems. */
function isUnsupported(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EINVAL' || error.code === 'ENOTSUP');
}

/** Snapshots in progress, and file changes in progress. */
const snapshots = new Set<{ readonly root: string; readonly taken: Promise<void> }>();
const changes = new Set<{ readonly path: string; readonly done: Promise<unknown> }>();

/**
 * Changes a file in one step: at once, or after the snapshot of a folder around it. The callback must not call this function again.
 * @example await changeFile(file, () => rename(`${file}.new`, file));
 */
export async function changeFile<T>(file: string, change: () => T | Promise<T>): Promise<T> {
  const path = resolve(file);
  for (let held = snapshotOf(path); held !== undefined; held = snapshotOf(path)) await held.taken;
  const done = Promise.resolve(change());
  const entry = { path, done };
  changes.add(entry);
  try {
    return await done;
  } finally {
    changes.delete(entry);
  }
}

function snapshotOf(path: string) {
  for (const snapshot of snapshots) if (isBelow(path, snapshot.root)) return snapshot;
  return undefined;
}

function isBelow(path: string, root: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

/**
 * Runs `take` while no file below `root` changes: changes in progress finish first, and new ones wait. `take` sees a consistent state. It has to be quick, and
 * must not change files below `root` by the functions of this module.
 * @param signal stops waiting for changes in progress, as on a disk that hangs
 */
export async function takeSnapshot<T>(root: string, take: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const folder = resolve(root);
  let release: () => void = () => undefined;
  const snapshot = { root: folder, taken: new Promise<void>((done) => (release = done)) };
  snapshots.add(snapshot);
  try {
    const underWayThere = [...changes].filter(({ path }) => isBelow(path, folder)).map(({ done }) => done);
    const ended = Promise.allSettled(underWayThere);
    if (signal === undefined) await ended;
    else if (!(await unlessAborted(ended, signal)).inTime) signal.throwIfAborted();
    return await take();
  } finally {
    snapshots.delete(snapshot);
    release();
  }
}

async function syncNow(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Syncs the entries of a folder as they are at the time of the call: created, renamed and removed files. Calls during a sync of the folder share the next one.
 * Does nothing on Windows, which can neither sync a folder nor needs it.
 */
export function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return Promise.resolve();
  const known = syncs.get(folder);
  if (known !== undefined) {
    known.next ??= known.running.then(
      () => startSync(folder),
      () => startSync(folder),
    );
    return known.next;
  }
  return startSync(folder);
}

function startSync(folder: string): Promise<void> {
  const running = syncNow(folder);
  const state = { running, next: undefined };
  syncs.set(folder, state);
  const done = () => {
    const now = syncs.get(folder);
    if (now === state && now.next === undefined) syncs.delete(folder);
  };
  running.then(done, done);
  return running;
}

/** Makes a folder with its parents, readable only by the user of the process, and syncs it. An existing one is synced, too. */
export async function makeFolder(path: string): Promise<void> {
  const folder = resolve(path);
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  // A folder that was created again under the same name is not synced yet.
  if (first !== undefined) for (let made = folder; made.length >= first.length; made = dirname(made)) kept.delete(made);
  await keepFolder(folder);
}

function keepFolder(folder: string): Promise<void> {
  const known = kept.get(folder);
  if (known !== undefined) return known;
  if (kept.size >= MOST_REMEMBERED) kept.clear();
  const parent = dirname(folder);
  const keeping = parent === folder ? Promise.resolve() : keepFolder(parent).then(() => syncParent(parent));
  kept.set(folder, keeping);
  keeping.catch(() => kept.delete(folder));
  return keeping;
}

async function syncParent(folder: string): Promise<void> {
  try {
    await syncFolder(folder);
  } catch (error) {
    // A parent folder that this user may not read was created by others long ago, and needs no sync.
    if (!(error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM')))
      throw error;
  }
}

/** A file with its complete content under a temporary name in its folder. */
export interface PreparedFile {
  /** Renames it to its final name. The caller syncs the folder. */
  place(): Promise<void>;
  discard(): Promise<void>;
}

export interface DurableFileOptions {
  /** The permissions of the file, as for `chmod`; default: only its owner may read and write it. */
  readonly mode?: number;
  /** Distinguishes the temporary file of this write, where several processes write one file. */
  readonly writer?: string;
}

/** Writes a file under a temporary name and syncs it. Leaves no file behind when the write fails. */
export async function prepareFile(
  file: string,
  content: Uint8Array | string,
  { mode, writer }: DurableFileOptions = {},
): Promise<PreparedFile> {
  const path = resolve(file);
  const fresh = `${path}${writer === undefined ? '' : `.${writer}`}${UNFINISHED}`;
  const discard = async () => {
    try {
      await rm(fresh, { force: true });
    } finally {
      inFlight.delete(fresh);
    }
  };
  inFlight.add(fresh);
  try {
    await writeSynced(await open(fresh, 'w', 0o600), content, mode);
  } catch (error) {
    await discard().catch(() => undefined);
    throw error;
  }
  return {
    async place() {
      try {
        await changeFile(path, () => rename(fresh, path));
        inFlight.delete(fresh);
      } catch (error) {
        await discard().catch(() => undefined);
        throw error;
      }
    },
    discard,
  };
}

async function writeSynced(handle: FileHandle, content: Uint8Array | string, mode?: number): Promise<void> {
  try {
    if (mode !== undefined) await handle.chmod(mode);
    await handle.writeFile(content);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/**
 * Replaces the content of a file: after a crash or a power cut, and for readers meanwhile, the file has either the old or the new content. One call at a time
 * for a file.
 */
export async function replaceFile(
  file: string,
  content: Uint8Array | string,
  options: DurableFileOptions = {},
): Promise<void> {
  const prepared = await prepareFile(file, content, options);
  await prepared.place();
  await syncFolder(dirname(resolve(file)));
}

/** Copies a file to a new name. @throws EEXIST when the name is taken */
export async function copyToNew(file: string, copy: string): Promise<void> {
  await changeFile(copy, () => copyFile(file, copy, constants.COPYFILE_EXCL));
  const handle = await open(copy, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  await syncFolder(dirname(resolve(copy)));
}

/** Renames a file in its folder. Needs no space, so it works on a full disk. */
export async function renameFile(file: string, name: string): Promise<void> {
  await changeFile(name, () => rename(file, name));
  await syncFolder(dirname(resolve(name)));
}

/** Removes files of one folder. Files that do not exist are skipped. */
export async function removeFiles(folder: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  for (const name of names) await changeFile(join(folder, name), () => rm(join(folder, name), { force: true }));
  await syncFolder(resolve(folder)).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  });
}

/** Unfinished files of a folder that an earlier process has left. */
export function leftUnfinished(folder: string, names: readonly string[]): readonly string[] {
  const at = resolve(folder);
  return names.filter((name) => name.endsWith(UNFINISHED) && !inFlight.has(join(at, basename(name))));
}

/** Why a disk operation failed, in words for operators. */
export interface DiskTrouble {
  /** The code of the system error: `ENOSPC`. */
  readonly code: string;
  /** The problem as a clause: `the disk is full`. */
  readonly words: string;
  /** How to fix it, as a sentence. */
  readonly remedy: string;
}

const RIGHTS = 'Give the user that runs the bot the right to read and write there.';
const HANDLES = 'Raise the limit of open files (`ulimit -n`, or `LimitNOFILE=` in the unit file) and restart.';
const TROUBLES: Readonly<Record<string, readonly [words: string, remedy: string]>> = {
  ENOSPC: ['the disk is full', 'Free some space.'],
  EDQUOT: ['the disk quota is used up', 'Free some space, or raise the quota.'],
  EIO: ['the disk reports an error', 'Look at the log of the system (`dmesg`) and replace the disk if need be.'],
  EROFS: ['the disk is read-only', 'Find out why (`dmesg`), and mount it writable again.'],
  EACCES: ['access is denied', RIGHTS],
  EPERM: ['access is denied', RIGHTS],
  EMFILE: ['too many files are open', HANDLES],
  ENFILE: ['too many files are open', HANDLES],
  EISDIR: ['a folder is in the place of a file', 'Move that folder away.'],
  ENOTDIR: ['a file is in the place of a folder', 'Move that file away.'],
  ENOENT: ['the folder is gone', 'Put it back, or restart the bot to begin without it.'],
  ELOCKED: ['another process has taken over the data', 'Stop one of the two, and restart the bot.'],
  ENODEV: ['the disk is gone', 'Attach it again and restart the bot.'],
  DATABASE_AWAY: ['the database does not answer', 'Start it: a bot that runs connects by itself.'],
  DATABASE_RIGHTS: [
    'the database denies access',
    'Give the user of the database the rights that docs/operators/postgresql.md lists.',
  ],
  DATABASE_FULL: ['the database has no room left', 'Free some space on the machine of the database.'],
  DATABASE_READ_ONLY: ['the database is read-only', 'Connect to the primary server, not to a replica.'],
  ESTALE: ['the network file system is gone', 'Mount it again and restart the bot.'],
};

/** The problem of the disk or database; `undefined` for an error with another cause. */
export function diskTroubleOf(error: unknown): DiskTrouble | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (!('code' in at) || typeof at.code !== 'string') continue;
    const [words, remedy] = TROUBLES[at.code] ?? [];
    if (words !== undefined && remedy !== undefined) return { code: at.code, words, remedy };
    if ('syscall' in at)
      return { code: at.code, words: t('the disk failed with {code}', { code: at.code }), remedy: t('See the log.') };
  }
  return undefined;
}

/** The problem with its code and path, for operators. */
export function diskTroubleText(error: unknown): string {
  const trouble = diskTroubleOf(error);
  if (trouble === undefined) return error instanceof Error ? error.message : String(error);
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? `, ${error.path}` : '';
  return `${translated(trouble.words)} (${trouble.code}${path})`;
}

/** Errors that are thrown unchanged. A write without the lease does not fail because of the medium, and a repetition would fail as well. */
const FINAL = ['CINNABAR_STORAGE_WRITE', 'CINNABAR_LEASE_LOST'];

/** The error for a failed write: members may read its message; the cause is for the log. */
export function storageWriteError(document: string, cause: unknown): CinnabarError {
  if (cause instanceof CinnabarError && FINAL.includes(cause.code)) return cause;
  return new CinnabarError('CINNABAR_STORAGE_WRITE', { document, detail: diskTroubleText(cause) }, { cause });
}

/** The error for a failed read, as `storageWriteError`. */
export function storageReadError(document: string, cause: unknown): CinnabarError {
  if (cause instanceof CinnabarError && cause.code === 'CINNABAR_STORAGE_READ') return cause;
  return new CinnabarError('CINNABAR_STORAGE_READ', { document, detail: diskTroubleText(cause) }, { cause });
}
