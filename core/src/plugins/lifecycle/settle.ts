import { arrangement } from './arrangement.js';
import { isStale } from './dependents.js';
import { noteFailure } from './load.js';
import { type PluginRecord, stateOf } from './records.js';
import type { LifecycleRoom } from './room.js';
import { startRun } from './start.js';
import { stopWithDependents } from './stop.js';
import { unmetTokens } from './waiting.js';

/** More rounds than any arrangement needs: only plugins that keep offering and withdrawing services get there. */
const MOST_ROUNDS = 100;

/**
 * Brings what runs in line with what can run: stops those whose services have changed, and starts, in dependency order, those
 * that have all that they need. A plugin that fails to start is reported, and the rest goes on.
 */
export async function settle(room: LifecycleRoom): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const stale = [...room.records.values()].find((record) => isStale(room, record));
    if (stale !== undefined) await stopWithDependents(room, stale);
    const ready = nextReady(room);
    if (ready !== undefined) await tryStart(room, ready);
    if (stale === undefined && ready === undefined) return;
  }
  room.log.error('plugins keep restarting one another: some of them offer and withdraw services without end');
}

function nextReady(room: LifecycleRoom): PluginRecord | undefined {
  const { order } = arrangement(room);
  return order
    .map((id) => room.records.get(id))
    .find((record) => record !== undefined && stateOf(record) === 'waiting' && unmetTokens(room, record).length === 0);
}

async function tryStart(room: LifecycleRoom, record: PluginRecord): Promise<void> {
  if (record.definition === undefined) return;
  try {
    record.run = await startRun(room, record.definition);
  } catch (error) {
    noteFailure(room, record, error);
  }
}
