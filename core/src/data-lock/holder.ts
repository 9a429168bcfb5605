import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { z } from 'zod';

/** Who writes to a folder of data. */
const holderSchema = z.object({
  pid: z.int().positive(),
  host: z.string(),
  /** When the process began, as its system counts it: a later process may have the same id. */
  birth: z.string().optional(),
  /** In which container's numbers `pid` counts. */
  namespace: z.string().optional(),
});
export type Holder = z.output<typeof holderSchema>;

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

/** `undefined` for anything that no process has written in full. */
export function readHolder(text: string): Holder | undefined {
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * Whether a holder still runs; `unknown` when that cannot be seen from here: another machine, or another container, perhaps an earlier run of
 * this one. The own process does not count: it knows what it holds itself.
 * @param touchedAt its last sign of life
 */
export function stateOf(holder: Holder | undefined, touchedAt: number): 'running' | 'gone' | 'unknown' {
  if (holder === undefined || holder.host !== hostname()) return 'unknown';
  const boot = bootId();
  // The machine was started again since. Another machine of that name would go on giving signs.
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
    // It is there, but somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Changes with each start of the machine. Only Linux tells. */
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

/** Only Linux tells; elsewhere the id alone has to do. */
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
