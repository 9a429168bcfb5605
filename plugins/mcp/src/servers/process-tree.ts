import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Time for a server to end by itself, and then after the signal. */
const LEAVE_MS = 500;
const TERMINATE_MS = 2_000;
/** Maximum number of searches for new processes that were started while others were being killed. */
const MOST_ROUNDS = 20;
const ROUND_MS = 20;

/** Whether the system has process groups. On Windows only the child itself is killed. */
export const HAS_GROUPS = process.platform !== 'win32';

/** Environment variable that identifies all processes started by a server. */
const MARK = 'CINNABAR_MCP_PROCESS';
const CGROUP = 'cinnabar-mcp-';
/** Distinguishes this run from earlier ones of the same process, even when process ids are reused. */
const RUN = `${process.pid}x${Math.floor(performance.timeOrigin)}`;

/**
 * All processes of one server. They are found by one of three signs, however they detach themselves:
 * - a separate control group, if this process may create one (Linux, cgroup v2): no process can leave it;
 * - else a mark in the environment, which children inherit, and their children (Linux);
 * - else the process group, which `setsid` leaves.
 * Without a control group, a process that clears its environment and outlives its parents escapes.
 */
interface ProcessTree {
  /** Add these to the environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Call it as soon as the program is started. */
  adopt(child: ChildProcess): void;
  /**
   * Ends the program and its descendants: closes its input, as MCP requires, then sends a signal to all, then kills them. Idempotent. Uses real time instead of
   * the host's clock, since it waits for external processes.
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown
   */
  end(): Promise<void>;
}

/** Running trees, killed when the bot ends without stopping its plugins. */
const alive = new Set<() => void>();
const endAll = () => {
  for (const kill of alive) kill();
};

/** @param owner identifies the bot's process, the same in each run: letters and digits */
export function createProcessTree(owner: string): ProcessTree {
  const mark = `${owner}-${RUN}-${randomUUID()}`;
  let child: ChildProcess | undefined;
  let cgroup: Cgroup | undefined;
  let ending: Promise<void> | undefined;

  const killAll = () => void kill('SIGKILL');

  const members = () => [...(cgroup?.members() ?? []), ...strays((one) => one === mark, child?.pid)];

  const kill = (signal: NodeJS.Signals): number => {
    const found = new Set(members());
    if (signal === 'SIGKILL') cgroup?.kill();
    if (child?.pid !== undefined) signalOne(HAS_GROUPS ? -child.pid : child.pid, signal);
    for (const pid of found) signalOne(pid, signal);
    return found.size;
  };

  const end = async (program: ChildProcess) => {
    const over = new AbortController();
    const ended = new Promise<void>((resolve) => {
      if (program.exitCode !== null || program.signalCode !== null) resolve();
      program.once('exit', () => resolve());
    }).then(() => over.abort());
    const atMost = (ms: number) => pause(ms, undefined, { signal: over.signal }).catch(() => undefined);

    program.stdin?.end();
    await atMost(LEAVE_MS);
    // Also when the program has ended: its descendants may still run.
    kill('SIGTERM');
    await atMost(TERMINATE_MS);
    for (let round = 0; kill('SIGKILL') > 0 && round < MOST_ROUNDS; round += 1) await pause(ROUND_MS);
    await ended;
    alive.delete(killAll);
    if (alive.size === 0) process.off('exit', endAll);
    await cgroup?.remove();
  };

  return {
    env: { [MARK]: mark },
    adopt(started) {
      child = started;
      if (started.pid === undefined) return;
      cgroup = createCgroup(`${CGROUP}${mark}`, started.pid);
      if (alive.size === 0) process.on('exit', endAll);
      alive.add(killAll);
    },
    end() {
      ending ??= child?.pid === undefined ? Promise.resolve() : end(child);
      return ending;
    },
  };
}

/** Ends processes that a killed earlier run of the same owner has left. Processes of this run stay, whatever their group. */
export async function endOrphans(owner: string): Promise<void> {
  const isLeft = (mark: string) => mark.startsWith(`${owner}-`) && !mark.startsWith(`${owner}-${RUN}-`);
  for (const pid of strays(isLeft, undefined)) signalOne(pid, 'SIGKILL');
  for (const cgroup of cgroupsOf(isLeft)) {
    for (const pid of cgroup.members()) signalOne(pid, 'SIGKILL');
    cgroup.kill();
    await cgroup.remove();
  }
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}

/** Running processes with a matching mark, and all descendants of those or of the server. Linux only. */
function strays(isOurs: (mark: string) => boolean, root: number | undefined): readonly number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = new Map<number, number[]>();
  const marked: number[] = root === undefined ? [] : [root];
  for (const name of pids) {
    const pid = Number(name);
    const parent = parentOf(name);
    if (parent === undefined) continue;
    children.set(parent, [...(children.get(parent) ?? []), pid]);
    if (isOurs(markOf(name))) marked.push(pid);
  }
  const found = new Set(marked);
  // Values that are added to a set during its iteration are visited, so this finds all descendants.
  for (const pid of found) for (const born of children.get(pid) ?? []) found.add(born);
  if (root !== undefined) found.delete(root);
  return [...found];
}

/** The parent's id; `undefined` for a process that has ended and whose exit code was not read yet. */
function parentOf(pid: string): number | undefined {
  // "123 (a name) S 1 …": the name may contain any character.
  const stat = contentOf(pid, 'stat');
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return parent === undefined || state === 'Z' || state === 'X' ? undefined : Number(parent);
}

function markOf(pid: string): string {
  const variable = contentOf(pid, 'environ')
    .split('\0')
    .find((one) => one.startsWith(`${MARK}=`));
  return variable?.slice(MARK.length + 1) ?? '';
}

/** The content of a file in `/proc`; empty for a process that has ended, or belongs to another user. */
function contentOf(pid: string, file: 'stat' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** A control group, which a process and its descendants cannot leave: https://docs.kernel.org/admin-guide/cgroup-v2.html */
interface Cgroup {
  /** Ids of its processes. */
  members(): readonly number[];
  kill(): void;
  /** Removes the group once it is empty; leaves it when processes remain. */
  remove(): Promise<void>;
}

const MOST_TRIES = 20;
const TRY_MS = 20;

/**
 * Creates a control group below this process's own, and moves a process into it.
 * @returns `undefined` without cgroup v2, or without the right to create groups, which requires root, a container with a writable `/sys/fs/cgroup`, or a
 *   systemd service with `Delegate=yes`
 */
export function createCgroup(name: string, pid: number): Cgroup | undefined {
  const parent = ownFolder();
  if (parent === undefined) return undefined;
  const folder = join(parent, name);
  try {
    mkdirSync(folder);
  } catch {
    return undefined;
  }
  try {
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
  } catch {
    rmdirSync(folder);
    return undefined;
  }
  return cgroupAt(folder);
}

/** Control groups of servers with a matching mark. */
function cgroupsOf(isTheirs: (mark: string) => boolean): readonly Cgroup[] {
  const parent = ownFolder();
  if (parent === undefined) return [];
  try {
    const names = readdirSync(parent).filter((name) => name.startsWith(CGROUP) && isTheirs(name.slice(CGROUP.length)));
    return names.map((name) => cgroupAt(join(parent, name)));
  } catch {
    return [];
  }
}

function cgroupAt(folder: string): Cgroup {
  return {
    members: () => readLines(join(folder, 'cgroup.procs')).map(Number),
    kill() {
      try {
        writeFileSync(join(folder, 'cgroup.kill'), '1');
      } catch {
        // On Linux before 5.14, or after the group was removed, the members are killed one by one.
      }
    },
    async remove() {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const removed = await rmdir(folder).then(
          () => true,
          () => false,
        );
        if (removed) return;
        await pause(TRY_MS);
      }
    },
  };
}

/** The folder of this process's own control group: below the mount of cgroup v2, at the path in `/proc/self/cgroup`. */
function ownFolder(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const mount = readLines('/proc/self/mounts')
    .map((line) => line.split(' '))
    .find(([, , type]) => type === 'cgroup2')?.[1];
  const own = readLines('/proc/self/cgroup').find((line) => line.startsWith('0::'));
  return mount === undefined || own === undefined ? undefined : join(mount, own.slice('0::'.length));
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return [];
  }
}
