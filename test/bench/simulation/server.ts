import type { Clock } from '@cinnabar/sdk';
import type { Costs, Operation } from './costs.js';

export interface ServerOptions {
  readonly clock: Clock;
  /** The cost of each operation at the server. */
  readonly costs: Costs;
  readonly cores: number;
  /** Duration until a commit is on the disk. Commits that wait at the same time share one. */
  readonly flushMs: number;
  /** How long a commit with an announcement blocks other such commits. */
  readonly announceMs: number;
  /** Network latency between a process and the database, in both directions. */
  readonly networkMs: number;
}

/** The statistics of the simulated server. */
export interface Load {
  readonly counts: ReadonlyMap<Operation, number>;
  /** Processor time of all cores together. */
  readonly cpuMs: number;
  readonly walBytes: number;
  /** Time for which commits with an announcement, which PostgreSQL serialises, held their lock. */
  readonly announcingMs: number;
}

export type SimulatedServer = ReturnType<typeof createSimulatedServer>;

/**
 * A model of PostgreSQL as a queue: a statement waits for a core and uses it for its measured time, then a write waits for the disk. A statement with an
 * announcement (NOTIFY) also waits for all earlier ones, since PostgreSQL holds a lock from before such a commit until it is on the disk.
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
    /** Resolves when the response has arrived. @param operations number of each operation in one statement */
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
