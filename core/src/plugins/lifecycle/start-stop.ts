import { CinnabarError, type ErrorCode, type Plugin, withinLimit } from '@cinnabar/sdk';
import { createEntrusted } from '../../access/entrusted.js';
import type { Owner, Scope } from '../../contracts.js';
import { doing, runAs } from '../../process/error-origin.js';
import { timersOf } from '../build/evaluate.js';
import { createScope } from '../scope.js';
import { injectedTokens } from '../start-order.js';
import {
  dependentRuns,
  IN_MEMORY,
  type LifecycleContext,
  lastStartedFirst,
  type PluginRecord,
  type Run,
  reasonOf,
} from './records.js';

/**
 * Runs a plugin's `setup`, for at most the room's start time. When it fails, nothing of it is left.
 * @throws CINNABAR_PLUGIN_SETUP, CINNABAR_PLUGIN_TIMEOUT
 */
export async function startRun(room: LifecycleContext, plugin: Plugin): Promise<Run> {
  const { id, version } = plugin.manifest;
  const scope = createScope({ plugin: id, clock: room.clock });
  const entrusted = isForeign(room, id) ? { entrusted: createEntrusted(room.clock) } : {};
  const owner: Owner = { id, plugin, scope, log: room.log.child({ plugin: id }), ...entrusted };
  const { needs, likes } = injectedTokens(plugin);
  const injected = new Map([...needs, ...likes].map((token) => [token, room.services.provision(token)]));
  timersOf(plugin)?.open();
  doing.change = `the setup of ${id}`;
  try {
    await setUp(room, owner);
  } catch (error) {
    await closeScope(room, scope, plugin);
    throw asStartError(id, error);
  } finally {
    doing.change = '';
  }
  room.touched.add(id);
  room.log.info(`${id} ${version} started`, { plugin: id });
  return { owner, sequence: room.nextSequence(), injected, registered: scope.effects };
}

/** Whether it neither comes with the host nor was handed to it by the program that runs it. */
function isForeign({ records }: LifecycleContext, id: string): boolean {
  const origin = records.get(id)?.origin;
  return origin !== undefined && origin.source !== 'bundled' && origin.path !== IN_MEMORY;
}

async function setUp(room: LifecycleContext, owner: Owner): Promise<void> {
  const work = async () => {
    const context = await room.createContext(owner);
    // The context may have come too late: then the scope is closed, and the plugin need not learn it the hard way.
    if (!owner.scope.signal.aborted) await runAs(owner.id, 'setup', () => owner.plugin.setup(context));
  };
  assertNotEnding(room, owner.id);
  const { inTime } = await withinLimit(room.clock, room.startTimeoutMs, work(), room.ending);
  if (inTime) return;
  assertNotEnding(room, owner.id);
  const seconds = room.startTimeoutMs / 1000;
  throw new CinnabarError('CINNABAR_PLUGIN_TIMEOUT', { plugin: owner.id, seconds, step: 'start' });
}

function assertNotEnding({ ending }: LifecycleContext, plugin: string): void {
  if (ending.aborted) throw new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin, state: 'stopping' });
}

/** Errors that say by themselves what is wrong, and with whom. */
const TELLING: readonly ErrorCode[] = ['CINNABAR_PLUGIN_TIMEOUT', 'CINNABAR_PLUGIN_STATE', 'CINNABAR_CONFIG_INVALID'];

function asStartError(plugin: string, error: unknown): CinnabarError {
  if (error instanceof CinnabarError && TELLING.includes(error.code)) return error;
  return new CinnabarError('CINNABAR_PLUGIN_SETUP', { plugin, detail: reasonOf(error) }, { cause: error });
}

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

/** While the host stops, one that hangs must not take the time that the others need. */
const ENDING_DISPOSE_MS = 1_000;

/**
 * Disposes of everything in a scope, then of timers that the plugin has set by itself, and logs what went wrong with it.
 * @returns the timers that were left, for people
 */
async function closeScope(
  { log, ending }: Pick<LifecycleContext, 'log' | 'ending'>,
  scope: Scope,
  definition: Plugin,
): Promise<readonly string[]> {
  const errors = await scope.close(ending.aborted ? { disposeTimeoutMs: ENDING_DISPOSE_MS } : {});
  for (const error of errors) {
    log.error(`${scope.plugin} did not clean up: ${error.message}`, { plugin: scope.plugin, error });
  }
  const left = timersOf(definition)?.close() ?? [];
  if (left.length > 0) {
    const many = left.length === 1 ? 'a timer' : `${left.length} timers`;
    log.warn(
      `${scope.plugin} left ${many} running, now cleared: ${left.join('; ')}. \`every\` and \`after\` end by themselves`,
      {
        plugin: scope.plugin,
      },
    );
  }
  return left;
}
