import { CinnabarError, type PersonaActions, type PersonaChain, type Plugins } from '@cinnabar/sdk';
import { type Action, defineAction } from './action.js';
import { CHAINS } from './builtin-actions.js';

export type ActionRegistry = ReturnType<typeof createActionRegistry>;

interface Registered<T> {
  readonly plugin: string;
  readonly value: T;
}

const NAME = /^[A-Z][A-Z0-9_]{0,39}$/;
const OWN = 'persona';

/** Everything that personas can do: the built-in actions, and those that other plugins register. */
export function createActionRegistry(builtin: readonly Action[], plugins: Pick<Plugins, 'enabledIn'>) {
  const actions = new Map<string, Registered<Action>>();
  const chains = new Map<string, Registered<PersonaChain>>();

  const add = <T>(to: Map<string, Registered<T>>, plugin: string, name: string, value: T) => {
    assertFree(name, actions.get(name) ?? chains.get(name));
    const registered = { plugin, value };
    to.set(name, registered);
    return async () => {
      if (to.get(name) === registered) to.delete(name);
    };
  };
  const enabled = <T>(of: Map<string, Registered<T>>, guildId: string | null): readonly T[] =>
    [...of.values()]
      .filter(({ plugin }) => plugin === OWN || plugins.enabledIn(guildId, plugin))
      .map(({ value }) => value);

  for (const action of builtin) add(actions, OWN, action.name, action);
  for (const chain of CHAINS) add(chains, OWN, chain.name, chain);
  const forPlugins: PersonaActions = {
    register: (plugin, action) => add(actions, plugin, action.name, defineAction(action)),
    chain: (plugin, chain) => add(chains, plugin, chain.name, chain),
  };
  return {
    ...forPlugins,
    /** Those whose plugin is enabled there, in the order in which they were registered. */
    actionsIn: (guildId: string | null) => enabled(actions, guildId),
    chainsIn: (guildId: string | null) => enabled(chains, guildId),
  };
}

function assertFree(name: string, existing: Registered<unknown> | undefined): void {
  if (!NAME.test(name)) {
    const detail = 'use upper case letters, digits and `_`, at most 40';
    throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'action', name, detail });
  }
  if (existing !== undefined) {
    throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'action', name, plugin: existing.plugin });
  }
}
