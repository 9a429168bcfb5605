import { type IdentityObjection, isUnknown } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Relay, RelayStores } from '../context.js';
import { type RelayEvent, SWITCHED_OFF } from '../events/event.js';
import { rulesIn } from '../settings.js';
import { agentKeyOf, grantOf, guildIdentity, LISTER, PLUGIN } from './grants.js';

/** Whether agents may act at the moment: what the switches of the guild, and the consent of the member, say now. */
export interface AgentPermissions {
  /** For every call under an identity of the relay. */
  readonly objection: IdentityObjection;
  /** Why an event must not be delivered to its agent, as a clause for people; `undefined` when it may be. */
  objectionTo(event: RelayEvent): Promise<string | undefined>;
}

export function createAgentPermissions(stores: RelayStores): AgentPermissions {
  const { rosters, dmAgents, settings, identities, frontDoor } = stores;

  const inGuild = (guildId: string, key: string | undefined): string | undefined => {
    const roster = rosters.enabled(guildId);
    if (roster === undefined) return 'the agents of this server are switched off';
    return key !== undefined && Object.hasOwn(roster.agents, key) ? undefined : 'this agent has been sent away';
  };

  const inDirect = async (userId: string, channelId: string, key: string | undefined) => {
    if ((await settings.user(userId).get()).dm !== 'on') return 'agents are switched off in these direct messages';
    if ((await dmAgents.agentOf(userId))?.key !== key)
      return 'this agent does not answer these direct messages any more';
    if (await directMessagesOff(userId, stores))
      return 'the servers shared with this member have switched off answers to direct messages';
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
    async objectionTo({ guildId, userId, channelId, agent }) {
      if (guildId !== null)
        return inGuild(guildId, agent) ?? identities.standing(guildIdentity(guildId, agent), guildId);
      return userId === null ? 'this agent is let into no direct messages' : inDirect(userId, channelId, agent);
    },
  };
}

/** Whether all servers with agents that a person shares with the bot have switched answers to direct messages off. */
export async function directMessagesOff(
  userId: string,
  { rosters, settings, client }: Pick<RelayStores, 'rosters' | 'settings' | 'client'>,
): Promise<boolean> {
  let shared = 0;
  for (const [guildId, { enabled }] of rosters.all()) {
    const guild = enabled ? client.guilds.cache.get(guildId) : undefined;
    const member = await guild?.members.fetch(userId).catch(() => undefined);
    if (member === undefined) continue;
    if ((await rulesIn(settings, guildId)).enable_dm_responses) return false;
    shared += 1;
  }
  return shared > 0;
}

const POST_TOOL = 'discord_send';

export interface PostingProblem {
  /** For members, as a clause. */
  readonly text: string;
  /** What an admin can do about it. */
  readonly todo: string;
  /** It was not granted the tool. It may be meant to answer with others, so events are delivered to it. */
  readonly isUngranted?: true;
}

/**
 * Why an agent of a guild cannot post in a channel at the moment, although it was let in: its rights are those of the member who let it in, under
 * the policies of the server. `undefined` while it can.
 */
export async function postingProblem(
  guildId: string,
  { key, name }: { readonly key: string; readonly name: string },
  channelId: string,
  { access, identities, policies, tools, client }: RelayStores,
): Promise<PostingProblem | undefined> {
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

export const noAnswer = (objection: string) => `There will be no answer: ${objection}.`;

/**
 * Cancels what is under way for agents that may not act any more in a guild, or in direct messages (`null`): their MCP sessions with the calls in
 * them, their runs at the Letta server, and their queued events. Members who asked get a message. Called after a command has changed a switch,
 * and periodically for changes that are made elsewhere.
 * @returns how many events were cancelled
 */
export async function cancelForbidden(
  guildId: string | null,
  { identities, endpoint, permissions, queue }: Relay,
): Promise<number> {
  for (const { id, plugin } of await identities.list(guildId)) {
    if (plugin === PLUGIN && (await identities.standing(id, guildId)) !== undefined) await endpoint?.cut(id);
  }
  let cancelled = 0;
  // One event of each channel and agent stands for the others.
  const pending = new Map(queue.pending(guildId).map((event) => [`${event.channelId} ${event.agent}`, event]));
  for (const event of pending.values()) {
    const objection = await permissions.objectionTo(event);
    if (objection !== undefined)
      cancelled += await queue.cancel(event.channelId, event.agent, noAnswer(objection), SWITCHED_OFF);
  }
  return cancelled;
}
