import type { ClientEvents } from 'discord.js';
import type { EnabledIn, GuildState, GuildStates, Owner } from '../contracts.js';

export interface Listener {
  readonly owner: Owner;
  readonly label: string;
  readonly call: (args: readonly unknown[]) => unknown;
}

type Listeners = readonly Listener[];

interface Known {
  readonly of: Listeners;
  readonly enabled: Listeners;
}

/**
 * Which listeners of an event belong to plugins that are enabled in a guild. Worked out once for each state of the guild and each set of
 * listeners, since it is asked with every message; what is known of a state goes when the state does.
 */
export function createAudience(states: Pick<GuildStates, 'peek'>, enabledIn: EnabledIn) {
  const known = new WeakMap<GuildState, Map<keyof ClientEvents, Known>>();
  const enabledOf = (guildId: string | null, listeners: Listeners) =>
    listeners.filter(({ owner }) => enabledIn(guildId, owner.plugin));

  return (event: keyof ClientEvents, guildId: string | null, listeners: Listeners): Listeners => {
    const state = guildId === null ? undefined : states.peek(guildId);
    if (state === undefined) return enabledOf(guildId, listeners);
    let ofState = known.get(state);
    if (ofState === undefined) {
      ofState = new Map();
      known.set(state, ofState);
    }
    let found = ofState.get(event);
    if (found?.of !== listeners) {
      found = { of: listeners, enabled: enabledOf(guildId, listeners) };
      ofState.set(event, found);
    }
    return found.enabled;
  };
}
