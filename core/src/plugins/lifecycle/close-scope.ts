import type { Scope } from '../../contracts.js';
import type { LifecycleRoom } from './room.js';

/** Disposes of everything in a scope, and logs what went wrong with it. */
export async function closeScope({ log }: Pick<LifecycleRoom, 'log'>, scope: Scope): Promise<void> {
  for (const error of await scope.close()) {
    log.error(`${scope.plugin} did not clean up: ${error.message}`, { plugin: scope.plugin, error });
  }
}
