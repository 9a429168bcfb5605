import { createHash, randomBytes } from 'node:crypto';
import { linkSync, readFileSync, readlinkSync, realpathSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { link, open } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hostname, uptime } from 'node:os';
import { join, resolve } from 'node:path';
import { CinnabarError, type Clock, makeFolder, sleep, syncFolder, t } from '@cinnabar/sdk';
import { z } from 'zod';

const NAME = 'lock';
const BEAT_MS = 20_000;
/** A holder in another container or on another machine counts as gone when it has not touched its lock for this long. */
const SILENT_MS = 60_000;
/** Interval for checking the lock of such a holder while waiting for it. */
const LOOK_MS = 1_000;

/** The right to write to a folder of data. */
export interface DataLock {
  /** When the former holder gave its last sign of life, if it ended without releasing the lock; in milliseconds since the Unix epoch. */
  readonly abandonedAt: number | undefined;
  /** @throws when this process has lost the lock: the folder was removed, or another process has taken it over */
  check(): void;
  /** Idempotent. */
  release(): void;
}

interface LockOptions {
  /**
   * Called with a sentence when the lock belongs to a process that cannot be observed and may be gone: it is then waited for. Without it, such a lock is an
   * error.
   */
  readonly onWait?: (sentence: string) => void;
  /** Called within 20 s after the lock is lost. */
  readonly onLost?: (error: Error) => void;
  /** Ends the waiting: its reason is thrown, and no lock is held. */
  readonly signal?: AbortSignal;
}

/** Folders that this process holds. */
const held = new Set<string>();

/**
 * Makes sure that no other process writes to the folder: by a file in it and, on this machine, by a name that the system frees with the process. The name keeps
 * a second process out even when the folder was removed. The lock of a process that has died is taken over.
 * @throws CinnabarError CINNABAR_DATA_IN_USE with the other process's id
 */
export async function lockData(dataDir: string, clock: Clock, options: LockOptions = {}): Promise<DataLock> {
  await makeFolder(dataDir);
  const folder = realpathSync(dataDir);
  const path = join(folder, NAME);
  if (held.has(path)) throw inUse(dataDir, `process ${process.pid}`);
  held.add(path);
  const holder = thisProcess();
  const own = JSON.stringify(holder);
  let claim: NameClaim | undefined;
  let abandonedAt: number | undefined;
  try {
    claim = await claimName(folder, own, holder.namespace);
    if (claim.holder !== undefined) throw inUse(dataDir, wordsFor(readHolder(claim.holder)));
    while (!(await create(path, own))) {
      const left = await untilAbandoned(dataDir, path, clock, options);
      if (left !== undefined && removeAbandoned(path, left.text)) abandonedAt = left.touchedAt;
      options.signal?.throwIfAborted();
    }
  } catch (error) {
    held.delete(path);
    claim?.release();
    throw error;
  }

  const check = () => {
    const found = textOf(path);
    if (found !== own) throw lost(path, found);
  };
  let cancel: () => void = () => undefined;
  const beat = () => {
    try {
      check();
      touch(path, clock);
    } catch (error) {
      if (error instanceof Error) options.onLost?.(error);
    }
    cancel = clock.after(BEAT_MS, beat);
  };
  beat();
  return {
    abandonedAt,
    check,
    release() {
      cancel();
      if (!held.delete(path)) return;
      // A lock that was taken over meanwhile (this process slept for minutes) must not be removed.
      if (textOf(path) === own) rmSync(path, { force: true });
      claim.release();
    },
  };
}

/** Which process holds a folder's data or has left a lock; `undefined` when there is no lock. Changes nothing. */
export function holderOf(
  dataDir: string,
): { readonly words: string; readonly state: 'running' | 'gone' | 'unknown' } | undefined {
  const path = join(dataDir, NAME);
  const text = textOf(path);
  const touchedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (text === undefined || touchedAt === undefined) return undefined;
  const holder = readHolder(text);
  const isOwn = holder?.pid === process.pid && text === JSON.stringify(thisProcess());
  return { words: wordsFor(holder), state: isOwn ? 'running' : stateOf(holder, touchedAt) };
}

/** `false` when a lock exists. The lock is created together with its content, so that no process reads a half-written lock, even after a power cut. */
async function create(path: string, content: string): Promise<boolean> {
  const draft = asideOf(path);
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  await syncFolder(resolve(path, '..'));
  return true;
}

interface LeftLock {
  readonly text: string;
  readonly touchedAt: number;
}

/**
 * @returns the lock that was left; nothing when it has been removed by now
 * @throws CINNABAR_DATA_IN_USE when its holder still runs
 */
async function untilAbandoned(
  dataDir: string,
  path: string,
  clock: Clock,
  { onWait, signal }: LockOptions,
): Promise<LeftLock | undefined> {
  const text = textOf(path);
  const touchedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (text === undefined || touchedAt === undefined) return undefined;
  const holder = readHolder(text);
  const state = stateOf(holder, touchedAt);
  if (state === 'running') throw inUse(dataDir, wordsFor(holder));
  if (state === 'gone') return { text, touchedAt };
  for (let waits = 0; ; waits += 1) {
    const silentMs = clock.now() - touchedAt;
    if (silentMs >= SILENT_MS) return { text, touchedAt };
    const leftS = Math.ceil((SILENT_MS - silentMs) / 1000);
    const sign = `${wordsFor(holder)} (last sign of life ${Math.max(0, Math.round(silentMs / 1000))} s ago)`;
    if (onWait === undefined) {
      throw inUse(dataDir, `${sign}; if that is gone already, it counts so in ${leftS} s: try again then`);
    }
    if (waits === 0) onWait(`The data in ${dataDir} may be in use by ${sign}. Waiting up to ${leftS} s for one more.`);
    if (!(await sleep(clock, LOOK_MS, signal))) signal?.throwIfAborted();
    const now = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (now === undefined) return undefined;
    if (now !== touchedAt) throw inUse(dataDir, wordsFor(holder));
  }
}

/** Removes a lock that was left. @returns whether this process has removed it */
function removeAbandoned(path: string, text: string): boolean {
  const aside = asideOf(path);
  try {
    renameSync(path, aside);
  } catch {
    // Another process was faster.
    return false;
  }
  // Between the check and the move, a third process may have created its lock: that lock is restored.
  const isOther = textOf(aside) !== text;
  if (isOther) linkSync(aside, path);
  rmSync(aside, { force: true });
  return !isOther;
}

function touch(path: string, clock: Clock): void {
  const now = new Date(clock.now());
  utimesSync(path, now, now);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function asideOf(path: string): string {
  return `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
}

function wordsFor(holder: Holder | undefined): string {
  if (holder === undefined) return t('a process that has left no name in the file `lock`');
  const { pid, host } = holder;
  return host === thisProcess().host
    ? t('process {pid}', { pid: String(pid) })
    : t('process {pid} on {host}', { pid: String(pid), host });
}

function inUse(dataDir: string, holder: string): CinnabarError {
  return new CinnabarError('CINNABAR_DATA_IN_USE', { folder: dataDir, holder });
}

/** The loss of the lock as an error with the `code` and `path` of a disk error, so that it is reported like one. */
function lost(path: string, found: string | undefined): Error {
  const isGone = found === undefined;
  const error = new Error(isGone ? 'the lock of this process was removed' : 'the lock is not this process’s any more');
  return Object.assign(error, { code: isGone ? 'ENOENT' : 'ELOCKED', path });
}

/** The process that writes to a data folder. */
const holderSchema = z.object({
  pid: z.int().positive(),
  host: z.string(),
  /** The start time of the process, as its system counts it: a later process may have the same id. */
  birth: z.string().optional(),
  /** The container in whose numbering `pid` counts. */
  namespace: z.string().optional(),
});
type Holder = z.output<typeof holderSchema>;

export function thisProcess(): Holder {
  const birth = birthOf(process.pid);
  const namespace = pidNamespace();
  return {
    pid: process.pid,
    host: hostname(),
    ...(birth === undefined ? {} : { birth }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** `undefined` for a lock that was not written completely. */
function readHolder(text: string): Holder | undefined {
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * Whether a holder still runs; `unknown` when that cannot be seen from here: another machine, or another container, perhaps an earlier run of this one. This
 * process itself does not count: the locks that it holds are in `held`.
 * @param touchedAt its last sign of life
 */
function stateOf(holder: Holder | undefined, touchedAt: number): 'running' | 'gone' | 'unknown' {
  if (holder === undefined || holder.host !== hostname()) return 'unknown';
  const boot = bootId();
  // The machine was started again since then. A running process on another machine of this name would renew its lock.
  if (holder.birth !== undefined && boot !== undefined && !holder.birth.startsWith(`${boot} `)) {
    return touchedAt < Date.now() - uptime() * 1000 ? 'gone' : 'unknown';
  }
  if (holder.namespace !== undefined && holder.namespace !== pidNamespace()) return 'unknown';
  if (holder.pid === process.pid || !exists(holder.pid)) return 'gone';
  return holder.birth === undefined || holder.birth === birthOf(holder.pid) ? 'running' : 'gone';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists, but this one may not send it signals.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Changes with each start of the machine. Available on Linux only. */
function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return undefined;
  }
}

function pidNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

/** Available on Linux only; elsewhere the process id has to suffice. */
function birthOf(pid: number): string | undefined {
  try {
    const boot = bootId();
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may hold spaces; the start time is the 20th field after it.
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return start === undefined || boot === undefined ? undefined : `${boot} ${start}`;
  } catch {
    return undefined;
  }
}

/** A name on this machine that only one process can hold at a time, and that the system frees however the process ends. */
interface NameClaim {
  /** The description that the process with the name gives of itself; `undefined` when this process holds it, or the system has no such names. */
  readonly holder: string | undefined;
  /** Idempotent. */
  release(): void;
}

const ANSWER_MS = 2_000;

/**
 * Claims the name that belongs to a folder by a socket that is not a file: an abstract socket on Linux, a named pipe on Windows. Other systems have neither,
 * and nothing is claimed.
 * @param self the text that other processes read when they fail to claim the name
 * @param namespace of the process's container: one that shares the network of another has the same names, but other data in a folder with that path
 */
export async function claimName(folder: string, self: string, namespace = ''): Promise<NameClaim> {
  const path = pathFor(folder, namespace);
  if (path === undefined) return { holder: undefined, release: () => undefined };
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(self);
  });
  // The socket must not keep the process alive.
  server.unref();
  const taken = await listening(server, path);
  return { holder: taken ? await askHolder(path) : undefined, release: () => void server.close() };
}

function pathFor(folder: string, namespace: string): string | undefined {
  const name = `cinnabar-${createHash('sha256').update(`${namespace}\n${folder}`).digest('hex').slice(0, 32)}`;
  if (process.platform === 'linux') return `\0${name}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : undefined;
}

/** @returns whether another process holds the name */
function listening(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', (error) => resolve('code' in error && error.code === 'EADDRINUSE'));
    server.listen({ path, exclusive: true }, () => resolve(false));
  });
}

function askHolder(path: string): Promise<string> {
  return new Promise((resolve) => {
    let said = '';
    const socket = connect({ path });
    socket.setEncoding('utf8').setTimeout(ANSWER_MS, () => socket.destroy());
    socket.on('data', (text) => {
      said += text;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(said));
  });
}
