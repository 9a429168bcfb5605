import { CinnabarError, type ErrorCode, type Plugin, speaking, t, withinLimit } from '@cinnabar/sdk';
import type { Owner, Scope } from '../../contracts.js';
import { doing, runAs } from '../../gateway/boundary.js';
import { createEntrusted } from '../../tools/tools.js';
import { timersOf } from '../build/evaluate.js';
import type { ChangeQueue } from '../manager.js';
import { createScope } from '../scope.js';
import type { ServiceObserver } from '../services.js';
import { arrangement, injectedTokens } from '../start-order.js';
import {
  dependentRuns,
  IN_MEMORY,
  isStale,
  type LifecycleContext,
  lastStartedFirst,
  noteFailure,
  type PluginRecord,
  type Run,
  reasonOf,
  stateOf,
  unmetTokens,
  usersOf,
} from './records.js';

/** Time limit for loading a plugin, and for its setup. */
export const START_MS = 30_000;

/**
 * The number of restarts of a plugin for one change, after which it is stopped: services that are provided anew by each restart would cause an endless loop.
 */
const MOST_RESTARTS = 5;

/**
 * Stops plugins whose services have changed, and starts, in dependency order, those whose requirements are met, until neither is left. A plugin that fails to
 * start is reported, and the others continue.
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
 * Handles services that plugins provide or withdraw while they run. During a change of the lifecycle, dependents are already stopped, and `settle` runs at the
 * end of the change.
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

/**
 * Runs a plugin's `setup`, for at most `START_MS`. When it fails, everything that it registered is removed.
 * @throws CINNABAR_PLUGIN_SETUP, CINNABAR_PLUGIN_TIMEOUT, CINNABAR_PLUGIN_INVALID, CINNABAR_CONFIG_INVALID; CINNABAR_PLUGIN_STATE when the host stops meanwhile
 */
export async function startRun(lifecycle: LifecycleContext, plugin: Plugin): Promise<Run> {
  const { id, version } = plugin.manifest;
  const scope = createScope({ plugin: id, clock: lifecycle.clock });
  const entrusted = isForeign(lifecycle, id) ? { entrusted: createEntrusted(lifecycle.clock) } : {};
  const owner: Owner = { id, plugin, scope, log: lifecycle.log.child({ plugin: id }), ...entrusted };
  const { needs, likes } = injectedTokens(plugin);
  const injected = new Map([...needs, ...likes].map((token) => [token, lifecycle.services.provision(token)]));
  timersOf(plugin)?.open();
  doing.change = `the setup of ${id}`;
  try {
    await setUp(lifecycle, owner);
    assertHandled(owner);
  } catch (error) {
    await closeScope(lifecycle, scope, plugin);
    throw asStartError(id, error);
  } finally {
    doing.change = '';
  }
  lifecycle.touched.add(id);
  lifecycle.log.info(`${id} ${version} started`, { plugin: id });
  return { owner, sequence: lifecycle.nextSequence(), injected, registered: scope.effects };
}

/** @throws CINNABAR_PLUGIN_INVALID when the plugin declares that it handles personal data of a collection, and `setup` has not registered this */
function assertHandled({ id, plugin, scope }: Owner): void {
  const handled = Object.entries(plugin.collections).find(([, { personal }]) => personal === 'handled');
  if (handled === undefined || scope.effects.includes('personal data')) return;
  const detail = `it says that it handles whose the documents of its collection "${handled[0]}" are, and covers neither export nor deletion: call personalData({ export, forget }) in setup, or declare \`personal: { by: … }\``;
  throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: id, detail });
}

/** Whether a plugin neither comes with the host nor was passed in memory by the program. */
function isForeign({ records }: LifecycleContext, id: string): boolean {
  const origin = records.get(id)?.origin;
  return origin !== undefined && origin.source !== 'bundled' && origin.path !== IN_MEMORY;
}

async function setUp(lifecycle: LifecycleContext, owner: Owner): Promise<void> {
  const work = async () => {
    const context = await lifecycle.createContext(owner);
    // After a time-out or a stop the scope is closed, and `setup` could register nothing.
    if (owner.scope.signal.aborted) return;
    // Timers and connections of the plugin inherit the asynchronous context, which must not contain the language of the admin who starts the plugin.
    await speaking(undefined, async () => runAs(owner.id, 'setup', () => owner.plugin.setup(context)));
  };
  assertNotEnding(lifecycle, owner.id);
  const { inTime } = await withinLimit(lifecycle.clock, START_MS, work(), lifecycle.ending);
  if (inTime) return;
  assertNotEnding(lifecycle, owner.id);
  throw new CinnabarError('CINNABAR_PLUGIN_TIMEOUT', { plugin: owner.id, seconds: START_MS / 1000, step: 'start' });
}

function assertNotEnding({ ending }: LifecycleContext, plugin: string): void {
  if (ending.aborted) throw new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin, state: t('stopping') });
}

/** Errors that name the plugin and the reason, so that they are not wrapped. */
const SELF_EXPLANATORY: readonly ErrorCode[] = [
  'CINNABAR_PLUGIN_INVALID',
  'CINNABAR_PLUGIN_TIMEOUT',
  'CINNABAR_PLUGIN_STATE',
  'CINNABAR_CONFIG_INVALID',
];

function asStartError(plugin: string, error: unknown): CinnabarError {
  if (error instanceof CinnabarError && SELF_EXPLANATORY.includes(error.code)) return error;
  return new CinnabarError('CINNABAR_PLUGIN_SETUP', { plugin, detail: reasonOf(error) }, { cause: error });
}

/** How long a stop waits for the running work of the plugin. */
const DRAIN_MS = 10_000;

/**
 * Stops a running plugin: lets its running work finish within the limit, then removes everything that it registered.
 * @returns the timers that the plugin has left, for people
 */
export async function stopRun(
  lifecycle: LifecycleContext,
  record: PluginRecord,
  drainMs = DRAIN_MS,
): Promise<readonly string[]> {
  const { id, run } = record;
  if (run === undefined) return [];
  if (drainMs > 0 && !(await drained(lifecycle, drainMs, id))) {
    lifecycle.log.warn(`${id} was still busy after ${drainMs / 1000} s; what it was doing is cancelled`, {
      plugin: id,
    });
  }
  // The plugin does not count as running from here on: a guard may be incomplete now, and must block tools.
  record.run = undefined;
  lifecycle.touched.add(id);
  const left = await closeScope(lifecycle, run.owner.scope, run.owner.plugin);
  lifecycle.log.info(`${id} stopped`, { plugin: id });
  return left;
}

async function drained({ boundary, clock, ending }: LifecycleContext, timeoutMs: number, id: string): Promise<boolean> {
  const limited = await withinLimit(clock, timeoutMs, boundary.drained(timeoutMs, id), ending);
  return limited.inTime && limited.value;
}

/** Stops a plugin, and before it those that use its services, the last started first. */
export async function stopWithDependents(
  lifecycle: LifecycleContext,
  record: PluginRecord,
): Promise<readonly string[]> {
  await stopDependents(lifecycle, record);
  return stopRun(lifecycle, record);
}

/** Stops the plugins that use a plugin's services, directly or indirectly. They start again when the services return. */
export async function stopDependents(lifecycle: LifecycleContext, record: PluginRecord): Promise<void> {
  for (const dependent of dependentRuns(lifecycle, record)) await stopRun(lifecycle, dependent);
}

/** Stops everything at once, the last started first. */
export async function stopAll(lifecycle: LifecycleContext): Promise<void> {
  for (const record of lastStartedFirst([...lifecycle.records.values()])) await stopRun(lifecycle, record, 0);
}

/** Time limit of one disposer while the host stops, so that a plugin that hangs leaves time for the others. */
const ENDING_DISPOSE_MS = 1_000;

/**
 * Disposes of everything in a scope, then of timers that the plugin has set itself, and logs errors.
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
