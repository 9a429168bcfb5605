import type { GuildState, GuildStates, OwnerChoices, OwnerState } from '@cinnabar/core/internal/contracts';

const UNTOUCHED: GuildState = {
  plugins: {},
  prefixes: undefined,
  toolPolicies: {},
  modRoles: [],
  adminRoles: [],
  accessRules: [],
};

/** Guild states that are in memory alone. */
export function memoryGuildStates(): GuildStates {
  const states = new Map<string, GuildState>();
  const stateOf = (guildId: string) => states.get(guildId) ?? UNTOUCHED;
  return {
    open: async () => undefined,
    peek: stateOf,
    load: async (guildId) => stateOf(guildId),
    async update(guildId, change) {
      states.set(guildId, change(stateOf(guildId)));
      return stateOf(guildId);
    },
  };
}

/** The bot owner's choices, in memory alone. */
export function memoryOwnerState(): OwnerState {
  let choices: OwnerChoices = { accessRules: [], plugins: {} };
  return {
    open: async () => undefined,
    peek: () => choices,
    async update(change) {
      choices = change(choices);
      return choices;
    },
  };
}
