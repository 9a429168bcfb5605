import { withinLimit } from '@cinnabar/sdk';
import { closeScope } from './close-scope.js';
import { dependentRuns, lastStartedFirst } from './dependents.js';
import type { PluginRecord } from './records.js';
import type { LifecycleContext } from './room.js';

/**
 * Stops a plugin that runs: lets it finish what it has begun, within the limit, then takes back all that it registered.
 * @returns what it had left running by itself, for people
 */
export async function stopRun(
  room: LifecycleContext,
  record: PluginRecord,
  drainTimeoutMs = room.drainTimeoutMs,
): Promise<readonly string[]> {
  const { id, run } = record;
  if (run === undefined) return [];
  if (drainTimeoutMs > 0 && !(await drained(room, drainTimeoutMs, id))) {
    room.log.warn(`${id} was still busy after ${drainTimeoutMs / 1000} s; what it was doing is cancelled`, {
      plugin: id,
    });
  }
  // From here on it does not count as running, for a guard above all: half of it may be gone.
  record.run = undefined;
  room.touched.add(id);
  const left = await closeScope(room, run.owner.scope, run.owner.plugin);
  room.log.info(`${id} stopped`, { plugin: id });
  return left;
}

async function drained({ boundary, clock, ending }: LifecycleContext, timeoutMs: number, id: string): Promise<boolean> {
  const limited = await withinLimit(clock, timeoutMs, boundary.drained(timeoutMs, id), ending);
  return limited.inTime && limited.value;
}

/** Stops a plugin, and before it those that use its services, the last started first. */
export async function stopWithDependents(room: LifecycleContext, record: PluginRecord): Promise<readonly string[]> {
  await stopDependents(room, record);
  return stopRun(room, record);
}

/** Stops those that use a plugin's services, directly or through others. They start again when the services return. */
export async function stopDependents(room: LifecycleContext, record: PluginRecord): Promise<void> {
  for (const dependent of dependentRuns(room, record)) await stopRun(room, dependent);
}

/** Stops everything, the last started first. */
export async function stopAll(room: LifecycleContext, drainTimeoutMs: number): Promise<void> {
  for (const record of lastStartedFirst([...room.records.values()])) await stopRun(room, record, drainTimeoutMs);
}
