import {
  type Actor,
  CinnabarError,
  type DecisionReason,
  type Place,
  type SettledOutcome,
  type ToolDefinition,
  type ToolPolicy,
} from '@cinnabar/sdk';
import { refusalReasons } from '../access/access.js';
import type { AccessService, EnabledIn, GuildStates } from '../contracts.js';
import type { Arguments } from './arguments.js';
import { denied, failed } from './outcomes.js';
import type { RegisteredTool } from './registry.js';

interface Parts {
  readonly access: AccessService;
  readonly states: GuildStates;
  readonly enabledIn: EnabledIn;
  readonly guardsDown: (guildId: string | null) => readonly string[];
}

interface Answer {
  /** `undefined`: nothing stands against it. */
  readonly refusal?: SettledOutcome;
}
interface PlaceAnswer extends Answer {
  readonly policy: ToolPolicy | undefined;
}
interface PersonAnswer extends Answer {
  readonly reasons: readonly DecisionReason[];
}

/** The questions asked of a call before it is proposed, and all of them again right before it runs. */
export function createGate({ access, states, enabledIn, guardsDown }: Parts) {
  const guildPolicy = async (guildId: string | null, tool: string) => {
    if (guildId === null) return undefined;
    const { toolPolicies } = await states.load(guildId);
    return Object.hasOwn(toolPolicies, tool) ? toolPolicies[tool] : undefined;
  };

  /** The strictest of what the guild says, where it takes effect, and what the agent's grant says; a tool's own policy where the guild is silent. */
  const policyOf = async ({ info, definition }: RegisteredTool, actor: Actor, at: Place | undefined) => {
    const ofGuild = await guildPolicy((at ?? actor).guildId, info.name);
    const ofIdentity = await access.modeOf(actor, info.name);
    return strictest([ofGuild ?? definition.policy, ofIdentity]);
  };

  const requestOf = ({ info }: RegisteredTool, at?: Place) => {
    const request = { kind: 'tool', name: info.name, plugin: info.plugin, policy: info.access } as const;
    return at === undefined ? request : { ...request, at };
  };

  /** Switched on, for models, not forbidden, and worth offering there. */
  const isOn = async (tool: RegisteredTool, actor: Actor): Promise<boolean> => {
    const { definition } = tool;
    if (definition.internal === true || !enabledIn(actor.guildId, tool.owner.plugin)) return false;
    if ((await policyOf(tool, actor, undefined)) === 'deny') return false;
    return actor.identity !== undefined || (await definition.offered?.(actor)) !== false;
  };

  return {
    isOn,
    /** What the place says: plugin switched on, guards standing, policy not `deny`. */
    async place(callId: string, tool: RegisteredTool, actor: Actor, at: Place | undefined): Promise<PlaceAnswer> {
      const { name } = tool.info;
      const { guildId } = at ?? actor;
      const policy = await policyOf(tool, actor, at);
      if (!enabledIn(guildId, tool.owner.plugin)) {
        return { policy, refusal: denied(callId, name, `the plugin "${tool.info.plugin}" is switched off here`) };
      }
      const [plugin] = guardsDown(guildId);
      if (plugin !== undefined) return { policy, refusal: failed(callId, 'CINNABAR_TOOL_GUARD_DOWN', { plugin }) };
      if (policy !== 'deny') return { policy };
      return { policy, refusal: denied(callId, name, 'the policy of this server forbids it') };
    },
    /** What the actor may: `fresh` trusts nothing that was cached, for the moment of execution. */
    async person(
      callId: string,
      tool: RegisteredTool,
      actor: Actor,
      at: Place | undefined,
      knowledge: 'cached' | 'fresh',
    ): Promise<PersonAnswer> {
      const request = requestOf(tool, at);
      const decision = await (knowledge === 'fresh'
        ? access.decideFresh(actor, request)
        : access.decide(actor, request));
      const { reasons } = decision;
      if (decision.allowed) return { reasons };
      return { reasons, refusal: denied(callId, tool.info.name, refusalReasons(decision)) };
    },
    /** Whether the tool is to be offered to a model that acts for this person. */
    async offers(tool: RegisteredTool, actor: Actor): Promise<boolean> {
      const { definition } = tool;
      if (!(await isOn(tool, actor))) return false;
      if (definition.place === undefined)
        return (await access.decide(actor, requestOf(tool, whereAsked(definition, actor)))).allowed;
      const request = requestOf(tool);
      // Permissions are those in the place where it takes effect, and that is known only with the arguments.
      const { member: _member, bot: _bot, ...policy } = request.policy;
      return (await access.decide(actor, { ...request, policy })).allowed;
    },
  };
}
export type Gate = ReturnType<typeof createGate>;

function strictest(policies: readonly (ToolPolicy | undefined)[]): ToolPolicy | undefined {
  return (['deny', 'confirm', 'allow'] as const).find((policy) => policies.includes(policy));
}

/**
 * Where a call takes effect; `undefined`: where a person asks for it, which needs no decision of its own.
 * @throws CINNABAR_TOOL_FAILED when the tool does not say, and whatever it throws
 */
export async function targetOf(
  { definition, info }: RegisteredTool,
  input: Arguments,
  actor: Actor,
): Promise<Place | undefined> {
  if (definition.place === undefined) return whereAsked(definition, actor);
  // A plugin may be in JavaScript: what is no place must not be taken for the place of whoever asks.
  const place: Partial<Place> | undefined = await definition.place(input);
  if (place?.guildId !== undefined) return { ...place, guildId: place.guildId };
  throw new CinnabarError('CINNABAR_TOOL_FAILED', { tool: info.name, detail: 'it did not say where it takes effect' });
}

/**
 * Where a call of a tool without `place` takes effect. An agent was let in channel by channel, and where its requests are shown need not be one
 * of them: then it changes nothing there. What only reads leaves everything as it is, and asks itself how far whoever calls may look.
 */
function whereAsked({ risk }: ToolDefinition, { identity, guildId, channelId }: Actor): Place | undefined {
  return identity === undefined || risk === 'read' ? undefined : { guildId, channelId };
}

export function isSamePlace(one: Place | undefined, other: Place | undefined): boolean {
  return one?.guildId === other?.guildId && one?.channelId === other?.channelId;
}
