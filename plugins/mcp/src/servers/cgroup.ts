import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A control group, which a process and all that it starts cannot leave: https://docs.kernel.org/admin-guide/cgroup-v2.html */
export interface Cgroup {
  /** Ids of the processes in it. */
  members(): readonly number[];
  kill(): void;
  /** Removes it once it is empty; leaves it where it does not become so. */
  remove(): Promise<void>;
}

const MOST_TRIES = 20;
const TRY_MS = 20;

/**
 * Makes a control group below this process's own, and moves a process into it.
 * @returns `undefined` where there is no cgroup v2, or where this process may make none: it takes root, a container with a writable
 * `/sys/fs/cgroup`, or a systemd service with `Delegate=yes`
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

/** Control groups that an earlier process has left there. */
export function cgroupsBeginning(prefix: string): readonly Cgroup[] {
  const parent = ownFolder();
  if (parent === undefined) return [];
  try {
    const names = readdirSync(parent).filter((name) => name.startsWith(prefix));
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
        // Linux before 5.14, or it has been removed: its members are killed one by one.
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

/** Where this process's own control group is: below the mount of cgroup v2, at the path that `/proc/self/cgroup` names. */
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
