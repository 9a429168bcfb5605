import { hostname } from 'node:os';
import { type Clock, type Collection, z } from '@cinnabar/sdk';

/** One run of the plugin in one process: a task's lease names it. */
const runSchema = z.object({ machine: z.string(), pid: z.number().int(), seenAt: z.number() });
export type Run = z.output<typeof runSchema>;

/** Global, by run. */
export const runsCollection = { scope: 'global', version: 1, schema: runSchema } as const;

export const HEARTBEAT_MS = 20_000;
/** A run of another machine that has said nothing for so long is over. */
const SILENCE_MS = 3 * HEARTBEAT_MS;

export interface RunsParts {
  readonly runs: Collection<Run, 'global'>;
  readonly run: string;
  readonly clock: Clock;
  /** Whether a process of this machine lives. */
  readonly lives?: (pid: number) => boolean;
}

/** Who carries tasks out. A process that was killed is recognised at once on its own machine, by its silence elsewhere. */
export function createRuns({ runs, run, clock, lives = processLives }: RunsParts) {
  const machine = hostname();
  const isOver = ({ machine: where, pid, seenAt }: Run) => {
    if (where !== machine) return clock.now() - seenAt > SILENCE_MS;
    // Within a process the runs follow one another.
    return pid === process.pid || !lives(pid);
  };
  return {
    /** Says that this run is alive. */
    async beat(): Promise<void> {
      await runs.of(run).set({ machine, pid: process.pid, seenAt: clock.now() });
    },
    /** Which leases nobody holds any more. Records of runs that are over go, too. */
    async free(): Promise<(lease: string | undefined) => boolean> {
      const held = new Set<string>();
      for await (const [id, other] of runs.entries()) {
        if (id === run) continue;
        if (isOver(other)) await runs.of(id).delete();
        else held.add(id);
      }
      return (lease) => lease === undefined || (lease !== run && !held.has(lease));
    },
    /** This run is over. */
    end: (): Promise<void> => runs.of(run).delete(),
  };
}

export type Runs = ReturnType<typeof createRuns>;

function processLives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, but somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
