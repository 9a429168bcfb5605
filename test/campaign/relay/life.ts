import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Agent } from './agent.js';

/** The output of a process. */
export interface Life {
  /** Ids of the acknowledged offers. */
  readonly taken: readonly string[];
  /** Ids of the events whose members were told that the agent is unreachable. */
  readonly failed: readonly string[];
  readonly wasKilled: boolean;
  /** Its unexpected output. */
  readonly complaint: string;
}

/**
 * Starts a process and kills it with SIGKILL at its `killAt`-th moment: a line of its output, a message to the agent, or a response of the agent. A process
 * that finishes earlier ends normally.
 */
export async function live(folder: string, agent: Agent, ids: readonly string[], killAt: number): Promise<Life> {
  const script = fileURLToPath(new URL('./process.js', import.meta.url));
  const child = spawn(process.execPath, [script, folder, agent.address, ...ids], { stdio: ['pipe', 'pipe', 'pipe'] });
  const taken: string[] = [];
  const failed: string[] = [];
  let complaint = '';
  let moments = 0;
  const pass = () => {
    moments += 1;
    if (moments === killAt) child.kill('SIGKILL');
  };
  agent.onMoment = pass;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  child.stdin.on('error', () => undefined);
  createInterface(child.stdout).on('line', (line) => {
    const [what, ...of] = line.split(' ');
    if (what === 'taken') taken.push(...of);
    if (what === 'failed') failed.push(...of);
    if (what === 'drained') child.stdin.end();
    pass();
  });
  await once(child, 'close');
  agent.onMoment = () => undefined;
  const wasKilled = child.signalCode === 'SIGKILL';
  if (!wasKilled && child.exitCode !== 0) complaint += `It ended by itself with ${child.exitCode}.`;
  return { taken, failed, wasKilled, complaint };
}
