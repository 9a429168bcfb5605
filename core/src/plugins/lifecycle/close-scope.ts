import type { Scope } from '../../contracts.js';
import type { LifecycleRoom } from './room.js';

/** While the host stops, one that hangs must not take the time that the others need. */
const ENDING_DISPOSE_MS = 1_000;

/** Disposes of everything in a scope, and logs what went wrong with it. */
export async function closeScope({ log, ending }: Pick<LifecycleRoom, 'log' | 'ending'>, scope: Scope): Promise<void> {
  const errors = await scope.close(ending.aborted ? { disposeTimeoutMs: ENDING_DISPOSE_MS } : {});
  for (const error of errors) {
    log.error(`${scope.plugin} did not clean up: ${error.message}`, { plugin: scope.plugin, error });
  }
}
