import type { Clock } from '@cinnabar/sdk';
import type { Costs, Operation } from './costs.js';

export interface ServerOptions {
  readonly clock: Clock;
  /** What each operation takes of the server. */
  readonly costs: Costs;
  readonly cores: number;
  /** Until a commit is on the disk. Commits that wait at the same time share one. */
  readonly flushMs: number;
  /** How long a commit that announces something keeps others from that. */
  readonly announceMs: number;
  /** From a process to the database and back. */
  readonly networkMs: number;
}

/** What has been asked of the simulated server. */
export interface Load {
  readonly counts: ReadonlyMap<Operation, number>;
  /** Of all cores together. */
  readonly cpuMs: number;
  readonly walBytes: number;
  /** How long commits that announce something, which PostgreSQL makes one after another, have held that lock. */
  readonly announcingMs: number;
}

export type SimulatedServer = ReturnType<typeof createSimulatedServer>;

/**
 * A PostgreSQL as a queue: a statement waits for a core and needs it for its measured time, a write then waits for the disk, and one that announces
 * something (NOTIFY) for every earlier one that does, since PostgreSQL holds a lock from before such a commit until it is on the disk.
 */
export function createSimulatedServer({ clock, costs, cores, flushMs, announceMs, networkMs }: ServerOptions) {
  const freeAt = Array.from({ length: cores }, () => 0);
  const counts = new Map<Operation, number>();
  let cpuMs = 0;
  let walBytes = 0;
  let announcingMs = 0;
  let announcedAt = 0;

  const pause = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));

  return {
    /** Resolves when the answer has arrived. @param operations done by one statement, each so often */
    async run(...operations: readonly (readonly [Operation, number])[]): Promise<void> {
      const begins = clock.now() + networkMs / 2;
      let needed = 0;
      let isWrite = false;
      let isAnnounced = false;
      for (const [operation, times] of operations) {
        const cost = costs[operation];
        counts.set(operation, (counts.get(operation) ?? 0) + times);
        needed += cost.cpuMs * times;
        walBytes += cost.walBytes * times;
        isWrite ||= cost.isWrite;
        isAnnounced ||= cost.isAnnounced;
      }
      cpuMs += needed;
      const core = freeAt.indexOf(Math.min(...freeAt));
      const done = Math.max(freeAt[core] ?? 0, begins) + needed;
      freeAt[core] = done;
      let onDisk = isWrite ? done + flushMs : done;
      if (isAnnounced) {
        onDisk = Math.max(done, announcedAt) + announceMs;
        announcedAt = onDisk;
        announcingMs += announceMs;
      }
      await pause(onDisk + networkMs / 2 - clock.now());
    },
    get load(): Load {
      return { counts: new Map(counts), cpuMs, walBytes, announcingMs };
    },
  };
}
