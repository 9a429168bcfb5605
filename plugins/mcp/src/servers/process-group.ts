import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

/** How long a server may take to end by itself, and then when it is told to. */
const LEAVE_MS = 500;
const TERMINATE_MS = 2_000;

/** On Windows a process has no group; there only the child itself is ended. */
export const HAS_GROUPS = process.platform !== 'win32';

/**
 * Ends a child process and what it has started: its input ends first, as MCP asks, then its group is told to stop, then made to.
 * In real time, whatever the host's clock says: processes know no other.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown
 */
export async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return;
  const over = new AbortController();
  const ended = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    child.once('exit', () => resolve());
  }).then(() => over.abort());
  const atMost = (ms: number) => pause(ms, undefined, { signal: over.signal }).catch(() => undefined);

  child.stdin?.end();
  await atMost(LEAVE_MS);
  // Also when it has ended by itself: what it had started may not have.
  signalGroup(child, 'SIGTERM');
  await atMost(TERMINATE_MS);
  signalGroup(child, 'SIGKILL');
  await ended;
}

/** Signals the child and all that it has started, as far as they are still there. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (HAS_GROUPS) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // Nobody is left in it.
  }
}
