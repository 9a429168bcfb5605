import { CinnabarError } from '@cinnabar/sdk';
import { arrangement } from './arrangement.js';
import { isStale } from './dependents.js';
import { noteFailure } from './load.js';
import { type PluginRecord, stateOf } from './records.js';
import type { LifecycleContext } from './room.js';
import { startRun } from './start.js';
import { stopWithDependents } from './stop.js';
import { unmetTokens } from './waiting.js';

/** How often a plugin may restart for one change before it is stopped: services that are offered anew by each restart never end. */
const MOST_RESTARTS = 5;

/**
 * Brings what runs in line with what can run: stops those whose services have changed, and starts, in dependency order, those
 * that have all that they need. A plugin that fails to start is reported, and the rest goes on.
 */
export async function settle(room: LifecycleContext): Promise<void> {
  const restarts = new Map<string, number>();
  for (let busy = true; busy && !room.ending.aborted; ) {
    const stale = [...room.records.values()].find((record) => isStale(room, record));
    if (stale !== undefined) await stopStale(room, stale, restarts);
    const ready = nextReady(room);
    if (ready !== undefined) await tryStart(room, ready);
    busy = stale !== undefined || ready !== undefined;
  }
}

async function stopStale(room: LifecycleContext, record: PluginRecord, restarts: Map<string, number>): Promise<void> {
  const count = (restarts.get(record.id) ?? 0) + 1;
  restarts.set(record.id, count);
  await stopWithDependents(room, record);
  if (count <= MOST_RESTARTS) return;
  const detail = `it was restarted ${MOST_RESTARTS} times, because its services change each time that it starts.`;
  noteFailure(room, record, new CinnabarError('CINNABAR_PLUGIN_SETUP', { plugin: record.id, detail }));
}

function nextReady(room: LifecycleContext): PluginRecord | undefined {
  const { order } = arrangement(room);
  return order
    .map((id) => room.records.get(id))
    .find((record) => record !== undefined && stateOf(record) === 'waiting' && unmetTokens(room, record).length === 0);
}

async function tryStart(room: LifecycleContext, record: PluginRecord): Promise<void> {
  if (record.definition === undefined) return;
  try {
    record.run = await startRun(room, record.definition);
  } catch (error) {
    noteFailure(room, record, error);
  }
}
