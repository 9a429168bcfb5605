import { CinnabarError, type Plugin } from '@cinnabar/sdk';
import { type Hindrance, orderPlugins, type StartOrder } from '../order.js';
import type { LifecycleContext } from './room.js';
import { asDependent } from './tokens.js';

/**
 * The order of the loaded plugins; those that failed do not count.
 * @param change a plugin to think of as replaced by another version, or as gone
 */
export function arrangement(
  { records, services }: Pick<LifecycleContext, 'records' | 'services'>,
  change?: { readonly id: string; readonly by: Plugin | undefined },
): StartOrder {
  const plugins = [...records.values()].flatMap(({ id, definition, failure }) => {
    if (id === change?.id) return change.by ?? [];
    return failure === undefined ? (definition ?? []) : [];
  });
  return orderPlugins(plugins.map(asDependent), services.ofHost);
}

/** Why a plugin cannot start, as a coded error. */
export function hindranceError(plugin: string, hindrance: Hindrance): CinnabarError {
  return hindrance.kind === 'circular'
    ? new CinnabarError('CINNABAR_DEPENDENCY_CIRCULAR', { cycle: hindrance.cycle.join(' → ') })
    : new CinnabarError('CINNABAR_DEPENDENCY_MISSING', { plugin, token: hindrance.token });
}
