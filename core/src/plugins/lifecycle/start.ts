import { CinnabarError, type ErrorCode, type Plugin, withinLimit } from '@cinnabar/sdk';
import { createEntrusted } from '../../access/entrusted.js';
import type { Owner } from '../../contracts.js';
import { doing, runAs } from '../../process/error-origin.js';
import { timersOf } from '../build/evaluate.js';
import { createScope } from '../scope.js';
import { closeScope } from './close-scope.js';
import { IN_MEMORY, type Run, reasonOf } from './records.js';
import type { LifecycleContext } from './room.js';
import { injectedTokens } from './tokens.js';

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
