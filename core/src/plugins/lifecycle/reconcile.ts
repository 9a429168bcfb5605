import { CinnabarError } from '@cinnabar/sdk';
import type { ServiceObserver } from '../services.js';
import { arrangement } from '../start-order.js';
import type { ChangeQueue } from './changes.js';
import {
  isStale,
  type LifecycleContext,
  noteFailure,
  type PluginRecord,
  stateOf,
  unmetTokens,
  usersOf,
} from './records.js';
import { startRun, stopWithDependents } from './start-stop.js';

/** How often a plugin may restart for one change before it is stopped: services that are offered anew by each restart never end. */
const MOST_RESTARTS = 5;

/**
 * Brings what runs in line with what can run: stops those whose services have changed, and starts, in dependency order, those
 * that have all that they need. A plugin that fails to start is reported, and the rest goes on.
 */
export async function settle(lifecycle: LifecycleContext): Promise<void> {
  const restarts = new Map<string, number>();
  for (let busy = true; busy && !lifecycle.ending.aborted; ) {
    const stale = [...lifecycle.records.values()].find((record) => isStale(lifecycle, record));
    if (stale !== undefined) await stopStale(lifecycle, stale, restarts);
    const ready = nextReady(lifecycle);
    if (ready !== undefined) await tryStart(lifecycle, ready);
    busy = stale !== undefined || ready !== undefined;
  }
}

async function stopStale(
  lifecycle: LifecycleContext,
  record: PluginRecord,
  restarts: Map<string, number>,
): Promise<void> {
  const count = (restarts.get(record.id) ?? 0) + 1;
  restarts.set(record.id, count);
  await stopWithDependents(lifecycle, record);
  if (count <= MOST_RESTARTS) return;
  const detail = `it was restarted ${MOST_RESTARTS} times, because its services change each time that it starts.`;
  noteFailure(lifecycle, record, new CinnabarError('CINNABAR_PLUGIN_SETUP', { plugin: record.id, detail }));
}

function nextReady(lifecycle: LifecycleContext): PluginRecord | undefined {
  const { order } = arrangement(lifecycle);
  return order
    .map((id) => lifecycle.records.get(id))
    .find(
      (record) => record !== undefined && stateOf(record) === 'waiting' && unmetTokens(lifecycle, record).length === 0,
    );
}

async function tryStart(lifecycle: LifecycleContext, record: PluginRecord): Promise<void> {
  if (record.definition === undefined) return;
  try {
    record.run = await startRun(lifecycle, record.definition);
  } catch (error) {
    noteFailure(lifecycle, record, error);
  }
}

/**
 * Follows services that plugins offer or withdraw while they run. What happens within a change of the lifecycle itself finds the
 * dependents stopped already, and is settled at its end.
 */
export function watchServices(lifecycle: LifecycleContext, queue: ChangeQueue): ServiceObserver {
  let settling = false;
  const settleSoon = () => {
    if (settling || queue.ended) return;
    settling = true;
    const change = async () => {
      settling = false;
      await settle(lifecycle);
    };
    queue.run(change).catch((error: unknown) => {
      if (!queue.ended) lifecycle.log.error('plugins could not be settled', { error });
    });
  };

  return {
    async withdraw(tokenId, remove) {
      if (usersOf(lifecycle, tokenId).length === 0) {
        remove();
        settleSoon();
        return;
      }
      await queue.run(async () => {
        for (let [user] = usersOf(lifecycle, tokenId); user !== undefined; [user] = usersOf(lifecycle, tokenId)) {
          await stopWithDependents(lifecycle, user);
        }
        remove();
        await settle(lifecycle);
      });
    },
    offered: settleSoon,
  };
}
