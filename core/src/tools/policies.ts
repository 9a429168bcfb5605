import { CinnabarError, TOOL_POLICIES, type ToolPolicies } from '@cinnabar/sdk';
import type { GuildStates } from '../contracts.js';
import { checkToolName } from './names.js';

/**
 * The guilds' policies by tool name. A policy may name a tool that is not loaded: a refusal outlives a reload.
 * `set` @throws CINNABAR_NAME_INVALID, CINNABAR_SETTING_INVALID
 */
export function createToolPolicies(states: GuildStates): ToolPolicies {
  const list = async (guildId: string) => (await states.load(guildId)).toolPolicies;
  return {
    async get(guildId, tool) {
      const policies = await list(guildId);
      return Object.hasOwn(policies, tool) ? policies[tool] : undefined;
    },
    async set(guildId, tool, policy) {
      checkToolName(tool);
      if (!TOOL_POLICIES.includes(policy)) {
        const detail = `expected one of ${TOOL_POLICIES.join(', ')}`;
        throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: tool, detail });
      }
      await states.update(guildId, (draft) => ({ ...draft, toolPolicies: { ...draft.toolPolicies, [tool]: policy } }));
    },
    async clear(guildId, tool) {
      await states.update(guildId, (draft) => {
        const others = Object.entries(draft.toolPolicies).filter(([name]) => name !== tool);
        return { ...draft, toolPolicies: Object.fromEntries(others) };
      });
    },
    list,
  };
}
