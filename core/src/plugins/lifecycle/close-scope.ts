import type { Plugin } from '@cinnabar/sdk';
import type { Scope } from '../../contracts.js';
import { timersOf } from '../build/evaluate.js';
import type { LifecycleContext } from './room.js';

/** While the host stops, one that hangs must not take the time that the others need. */
const ENDING_DISPOSE_MS = 1_000;

/**
 * Disposes of everything in a scope, then of timers that the plugin has set by itself, and logs what went wrong with it.
 * @returns the timers that were left, for people
 */
export async function closeScope(
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
