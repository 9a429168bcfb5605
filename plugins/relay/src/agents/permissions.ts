import {
  type Access,
  type FrontDoor,
  type Identities,
  type IdentityObjection,
  isUnknown,
  type McpEndpoint,
  type ToolPolicies,
  type Tools,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { RelaySettings } from '../settings.js';
import { type RelayEvent, type RelayQueue, SWITCHED_OFF } from '../types.js';
import type { Directs } from './dm-agents.js';
import { agentKeyOf, grantOf, guildIdentity, LISTER, PLUGIN } from './grants.js';
import type { Rosters } from './roster.js';

interface StandingParts {
  readonly rosters: Rosters;
  readonly directs: Directs;
  readonly settings: RelaySettings;
  readonly identities: Identities;
  readonly frontDoor: FrontDoor | undefined;
  /** Whether all servers that someone shares with the bot have switched direct messages off. */
  readonly isShut: (userId: string) => Promise<boolean>;
}

/** Whether agents may act at the moment: what the switches of the guild, and the consent of the member, say now. */
export interface AgentStanding {
  /** For every call under an identity of the relay. */
  readonly objection: IdentityObjection;
  /** Why the agent of an event may not be told of it, as a clause for people; `undefined` while it may. */
  of(event: RelayEvent): Promise<string | undefined>;
}

export function createStanding(parts: StandingParts): AgentStanding {
  const { rosters, directs, settings, identities, frontDoor, isShut } = parts;

  const inGuild = (guildId: string, key: string | undefined): string | undefined => {
    const roster = rosters.enabled(guildId);
    if (roster === undefined) return 'the agents of this server are switched off';
    return key !== undefined && Object.hasOwn(roster.agents, key) ? undefined : 'this agent has been sent away';
  };

  const inDirect = async (userId: string, channelId: string, key: string | undefined) => {
    if ((await settings.user(userId).get()).dm !== 'on') return 'agents are switched off in these direct messages';
    if ((await directs.agentOf(userId))?.key !== key)
      return 'this agent does not answer these direct messages any more';
    if (await isShut(userId)) return 'the servers shared with this member have switched off answers to direct messages';
    const responder = await frontDoor?.responderIn(null, channelId);
    return responder === undefined || responder === PLUGIN ? undefined : `${responder} answers these direct messages`;
  };

  return {
    async objection({ id, grants }, guildId) {
      // It lists tools for the Letta server, in no channel.
      if (id === LISTER) return undefined;
      if (guildId !== null) return inGuild(guildId, agentKeyOf(id));
      const grant = grants.find((one) => one.guildId === null);
      return grant === undefined ? undefined : inDirect(grant.userId, grant.channelId, agentKeyOf(id));
    },
    async of({ guildId, userId, channelId, agent }) {
      if (guildId !== null)
        return inGuild(guildId, agent) ?? identities.standing(guildIdentity(guildId, agent), guildId);
      return userId === null ? 'this agent is let into no direct messages' : inDirect(userId, channelId, agent);
    },
  };
}

const POST_TOOL = 'discord_send';

export interface MuteParts {
  readonly access: Pick<Access, 'decide'>;
  readonly identities: Identities;
  readonly policies: Pick<ToolPolicies, 'get'>;
  readonly tools: Pick<Tools, 'list'>;
  readonly client: Client;
}

export interface Mute {
  /** For members, as a clause. */
  readonly text: string;
  /** What an admin can do about it. */
  readonly todo: string;
  /** It was not granted the tool. It may be meant to answer with others, and is told what is said to it. */
  readonly isUngranted?: true;
}

/**
 * Why an agent of a guild cannot post in a channel at the moment, although it was let in: its rights are those of the member who let it in, under
 * the policies of the server. `undefined` while it can.
 */
export async function muteIn(
  guildId: string,
  { key, name }: { readonly key: string; readonly name: string },
  channelId: string,
  { access, identities, policies, tools, client }: MuteParts,
): Promise<Mute | undefined> {
  const identity = guildIdentity(guildId, key);
  const grant = await grantOf(identities, identity, guildId);
  const again = `An admin who may post lets it in again: \`relay agent\` with its id and the name \`${name}\`.`;
  if (grant === undefined) return { text: 'it has lost its rights here', todo: again };
  if (!Object.hasOwn(grant.tools, POST_TOOL))
    return {
      text: `it was not granted \`${POST_TOOL}\``,
      todo: `\`relay grant tool ${POST_TOOL} allow ${name}\` grants it.`,
      isUngranted: true,
    };
  const tool = tools.list().find((one) => one.name === POST_TOOL);
  if (tool === undefined)
    return { text: 'the tools for Discord are not there', todo: 'The owner of the bot loads `discord-tools`.' };
  if ((await policies.get(guildId, POST_TOOL)) === 'deny') {
    return {
      text: `the policy of this server forbids \`${POST_TOOL}\``,
      todo: `\`tool policy ${POST_TOOL} allow\` permits it.`,
    };
  }
  const { userId } = grant;
  if (await hasLeft(client, guildId, userId))
    return { text: 'the member who let it in has left this server', todo: again };
  const { allowed, reasons } = await access.decide(
    { userId, guildId, channelId: grant.channelId, identity },
    { kind: 'tool', name: POST_TOOL, plugin: tool.plugin, policy: tool.access, at: { guildId, channelId } },
  );
  if (reasons.some((reason) => reason.rule === 'plugin-enabled' && !reason.allowed))
    return {
      text: `\`${tool.plugin}\`, which it posts with, is switched off here`,
      todo: `\`plugin enable ${tool.plugin}\` switches it on.`,
    };
  return allowed ? undefined : { text: 'the member who let it in may not post there, or I may not', todo: again };
}

async function hasLeft(client: Client, guildId: string, userId: string): Promise<boolean> {
  try {
    await client.guilds.cache.get(guildId)?.members.fetch({ user: userId, force: true });
    return false;
  } catch (error) {
    return isUnknown(error);
  }
}

interface CutOffParts {
  readonly identities: Identities;
  readonly endpoint: McpEndpoint | undefined;
  readonly standing: AgentStanding;
  readonly queue: RelayQueue;
}

export const noAnswer = (objection: string) => `There will be no answer: ${objection}.`;

/**
 * Ends what is under way for agents that may not act any more in a guild, or in direct messages (`null`): their sessions with the calls in them,
 * their runs at the Letta server, and what waits for them. Members who asked get a word. Called after a switch was changed; what is changed past
 * the relay's own commands is found by looking again and again.
 * @returns how many events were cut off
 */
export async function cutOff(
  guildId: string | null,
  { identities, endpoint, standing, queue }: CutOffParts,
): Promise<number> {
  for (const { id, plugin } of await identities.list(guildId)) {
    if (plugin === PLUGIN && (await identities.standing(id, guildId)) !== undefined) await endpoint?.cut(id);
  }
  let cut = 0;
  // One of each channel and agent stands for the others.
  const pending = new Map(queue.pending(guildId).map((event) => [`${event.channelId} ${event.agent}`, event]));
  for (const event of pending.values()) {
    const objection = await standing.of(event);
    if (objection !== undefined)
      cut += await queue.cut(event.channelId, event.agent, noAnswer(objection), SWITCHED_OFF);
  }
  return cut;
}

/** Looks every two seconds, while something is under way, whether it still may be. */
export const CHECK_MS = 2_000;
export async function cutOffWhatMayNot(parts: CutOffParts): Promise<void> {
  for (const guildId of parts.queue.busyGuilds()) await cutOff(guildId, parts);
}
