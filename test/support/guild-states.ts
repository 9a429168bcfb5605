import type { AccessRule, ToolPolicy } from '@cinnabar/sdk';

/** The stored state of a guild. */
export interface GuildState {
  readonly plugins: Readonly<Record<string, boolean>>;
  readonly prefixes: readonly string[] | undefined;
  readonly toolPolicies: Readonly<Record<string, ToolPolicy>>;
  readonly modRoles: readonly string[];
  readonly adminRoles: readonly string[];
  readonly accessRules: readonly AccessRule[];
}
export type OwnerChoices = Pick<GuildState, 'accessRules' | 'plugins'>;

const UNTOUCHED: GuildState = {
  plugins: {},
  prefixes: undefined,
  toolPolicies: {},
  modRoles: [],
  adminRoles: [],
  accessRules: [],
};

/** Guild states in memory. */
export function memoryGuildStates() {
  const states = new Map<string, GuildState>();
  const stateOf = (guildId: string): GuildState => states.get(guildId) ?? UNTOUCHED;
  return {
    open: async () => undefined,
    peek: stateOf,
    load: async (guildId: string) => stateOf(guildId),
    async update(guildId: string, change: (draft: GuildState) => GuildState) {
      states.set(guildId, change(stateOf(guildId)));
      return stateOf(guildId);
    },
  };
}

/** The bot owner's choices, in memory. */
export function memoryOwnerState() {
  let choices: OwnerChoices = { accessRules: [], plugins: {} };
  return {
    open: async () => undefined,
    peek: () => choices,
    async update(change: (draft: OwnerChoices) => OwnerChoices) {
      choices = change(choices);
      return choices;
    },
  };
}
