import {
  type Identities,
  type Identity,
  type IdentityGrant,
  type IdentityObjection,
  isUnknown,
  type Tools,
  t,
  UserError,
} from '@cinnabar/sdk';
import type { Channel, Client, GuildBasedChannel } from 'discord.js';
import type { Relay, RelayStores } from '../context.js';
import { type RelayEvent, SWITCHED_OFF } from '../events/event.js';
import { rulesIn } from '../settings.js';
import type { Chosen } from './roster.js';

export type AgentPermissions = ReturnType<typeof createAgentPermissions>;

/** Decides whether agents may act now, by the guild's switches and the member's consent. */
export function createAgentPermissions(stores: RelayStores) {
  const { rosters, dmAgents, settings, identities, frontDoor } = stores;

  const inGuild = (guildId: string, key: string | undefined): string | undefined => {
    const roster = rosters.enabled(guildId);
    if (roster === undefined) return t('the agents of this server are switched off');
    return key !== undefined && Object.hasOwn(roster.agents, key) ? undefined : t('this agent has been sent away');
  };

  const inDirect = async (userId: string, channelId: string, key: string | undefined) => {
    if ((await settings.user(userId).get()).dm !== 'on') return t('agents are switched off in these direct messages');
    if ((await dmAgents.agentOf(userId))?.key !== key)
      return t('this agent does not answer these direct messages any more');
    if (await directMessagesOff(userId, stores))
      return t('the servers shared with this member have switched off answers to direct messages');
    const responder = await frontDoor?.responderIn(null, channelId);
    return responder === undefined || responder === PLUGIN
      ? undefined
      : t('{responder} answers these direct messages', { responder });
  };

  const objection: IdentityObjection = async ({ id, grants }, guildId) => {
    // This identity only lists tools for the Letta server; it acts in no channel.
    if (id === LISTER) return undefined;
    if (guildId !== null) return inGuild(guildId, agentKeyOf(id));
    const grant = grants.find((one) => one.guildId === null);
    return grant === undefined ? undefined : inDirect(grant.userId, grant.channelId, agentKeyOf(id));
  };

  return {
    /** Decides about every call under an identity of the relay. */
    objection,
    /** Why an event must not be delivered to its agent, as a clause for people; `undefined` if it may. */
    async objectionTo({ guildId, userId, channelId, agent }: RelayEvent): Promise<string | undefined> {
      if (guildId !== null)
        return inGuild(guildId, agent) ?? identities.standing(guildIdentity(guildId, agent), guildId);
      return userId === null ? t('this agent is let into no direct messages') : inDirect(userId, channelId, agent);
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
  /** The problem for members, as a clause. */
  readonly text: string;
  /** How admins can correct it. */
  readonly todo: string;
  /** Posting was not granted. The agent may be meant to act with other tools, so events are still delivered. */
  readonly isUngranted?: true;
}

/**
 * Why an agent of a guild cannot post in a granted channel now: it has the rights of the member who granted the channel, within the server's policies.
 * `undefined` if it can.
 */
export async function postingProblem(
  guildId: string,
  { key, name }: { readonly key: string; readonly name: string },
  channelId: string,
  { access, identities, policies, tools, client }: RelayStores,
): Promise<PostingProblem | undefined> {
  const identity = guildIdentity(guildId, key);
  const grant = await grantOf(identities, identity, guildId);
  const again = t('An admin who may post lets it in again: `relay agent` with its id and the name `{name}`.', { name });
  if (grant === undefined) return { text: t('it has lost its rights here'), todo: again };
  if (!Object.hasOwn(grant.tools, POST_TOOL))
    return {
      text: t('it was not granted `{postTool}`', { postTool: POST_TOOL }),
      todo: t('`relay grant tool {postTool} allow {name}` grants it.', { postTool: POST_TOOL, name }),
      isUngranted: true,
    };
  const tool = tools.list().find((one) => one.name === POST_TOOL);
  if (tool === undefined)
    return { text: t('the tools for Discord are not there'), todo: t('The owner of the bot loads `discord-tools`.') };
  if ((await policies.get(guildId, POST_TOOL)) === 'deny') {
    return {
      text: t('the policy of this server forbids `{postTool}`', { postTool: POST_TOOL }),
      todo: t('`tool policy {postTool} allow` permits it.', { postTool: POST_TOOL }),
    };
  }
  const { userId } = grant;
  if (await hasLeft(client, guildId, userId))
    return { text: t('the member who let it in has left this server'), todo: again };
  const { allowed, reasons } = await access.decide(
    { userId, guildId, channelId: grant.channelId, identity },
    { kind: 'tool', name: POST_TOOL, plugin: tool.plugin, policy: tool.access, at: { guildId, channelId } },
  );
  if (reasons.some((reason) => reason.rule === 'plugin-enabled' && !reason.allowed))
    return {
      text: t('`{plugin}`, which it posts with, is switched off here', { plugin: tool.plugin }),
      todo: t('`plugin enable {plugin}` switches it on.', { plugin: tool.plugin }),
    };
  return allowed ? undefined : { text: t('the member who let it in may not post there, or I may not'), todo: again };
}

async function hasLeft(client: Client, guildId: string, userId: string): Promise<boolean> {
  try {
    await client.guilds.cache.get(guildId)?.members.fetch({ user: userId, force: true });
    return false;
  } catch (error) {
    return isUnknown(error);
  }
}

export const noAnswer = (objection: string) => t('There will be no answer: {objection}.', { objection });

/**
 * Cancels the work of agents that may no longer act in a guild, or in direct messages (`null`): their MCP sessions with the calls in them, their runs at the
 * Letta server, and their queued events. Members who asked get a message. Called after a command has changed a switch, and periodically for changes that are
 * made elsewhere.
 * @returns the number of cancelled events
 */
export async function cancelForbidden(
  guildId: string | null,
  { identities, endpoint, permissions, queue }: Relay,
): Promise<number> {
  for (const { id, plugin } of await identities.list(guildId)) {
    if (plugin === PLUGIN && (await identities.standing(id, guildId)) !== undefined) await endpoint?.cut(id);
  }
  let cancelled = 0;
  // One event of each channel and agent is checked for all of them.
  const pending = new Map(queue.pending(guildId).map((event) => [`${event.channelId} ${event.agent}`, event]));
  for (const event of pending.values()) {
    const objection = await permissions.objectionTo(event);
    if (objection !== undefined)
      cancelled += await queue.cancel(event.channelId, event.agent, noAnswer(objection), SWITCHED_OFF);
  }
  return cancelled;
}

/** The permissions of a new agent: reading, answering, reacting. Admins grant everything else. */
const FIRST_TOOLS = [
  'discord_read_messages',
  'discord_search_messages',
  'discord_get_server_info',
  'discord_list_servers',
  'discord_get_forum_channels',
  'discord_get_forum_post',
  'discord_send',
  'discord_add_reaction',
  'discord_add_multiple_reactions',
  'discord_remove_reaction',
] as const;
const DIRECT_TOOLS = [
  'discord_read_messages',
  'discord_send',
  'discord_add_reaction',
  'discord_remove_reaction',
] as const;

export const PLUGIN = 'relay';

/** The identity of a guild's agent. */
export function guildIdentity(guildId: string, key: string): string {
  return `${PLUGIN}:${guildId}:${key}`;
}

/** The identity of an agent of direct messages: the shared one, or a person's own agent. */
export function directIdentity(ownerId: string | undefined): string {
  return ownerId === undefined ? `${PLUGIN}:dm` : `${PLUGIN}:dm:${ownerId}`;
}

function allowed(tools: readonly string[]): IdentityGrant['tools'] {
  return Object.fromEntries(tools.map((name) => [name, 'allow' as const]));
}

/** The grant of an agent for one person's direct messages: that channel only. */
export function directGrant(userId: string, channelId: string): IdentityGrant {
  return { guildId: null, userId, channelId, channels: [channelId], tools: allowed(DIRECT_TOOLS) };
}

/** An identity's grant in a guild. */
export async function grantOf(
  identities: Identities,
  id: string,
  guildId: string | null,
): Promise<IdentityGrant | undefined> {
  return (await identities.get(id))?.grants.find((grant) => grant.guildId === guildId);
}

/** Changes or creates an identity's grant in a guild. */
export async function saveGrant(identities: Identities, id: string, name: string, grant: IdentityGrant): Promise<void> {
  const known: Identity = (await identities.get(id)) ?? { id, plugin: PLUGIN, name, grants: [] };
  const others = known.grants.filter(({ guildId }) => guildId !== grant.guildId);
  await identities.save({ ...known, name, grants: [...others, grant] });
}

/** The key of an agent in its roster, or among those of direct messages; `undefined` for identities of other plugins. */
export function agentKeyOf(identity: string): string | undefined {
  const [plugin, place, key] = identity.split(':');
  if (plugin !== PLUGIN) return undefined;
  return place === 'dm' ? directKey(key) : key;
}

/** The key of an agent of direct messages in events: the shared one, or a person's own agent. */
export function directKey(ownerId: string | undefined): string {
  return ownerId === undefined ? 'direct' : `direct-${ownerId}`;
}

/** The identity under which the Letta server lists the tools. */
export const LISTER = `${PLUGIN}:listing`;

const DISCORD = 'discord_';

/** The tools of a new agent: those that only read, answering, and reacting; also tools that plugins add later. */
export function firstTools(tools: Tools): IdentityGrant['tools'] {
  const reading = tools.list().filter(({ name, risk }) => name.startsWith(DISCORD) && risk === 'read');
  return allowed([...new Set([...FIRST_TOOLS, ...reading.map(({ name }) => name)])]);
}

/** @throws UserError, with the command that changes it, unless the guild's agent has a grant for the channel */
export async function assertLetIn(
  identities: Identities,
  guildId: string,
  { key, agent: { name } }: Chosen,
  channel: Channel,
): Promise<void> {
  const grant = await grantOf(identities, guildIdentity(guildId, key), guildId);
  if (grant !== undefined && isLetInto(grant.channels, channel)) return;
  throw new UserError(
    t(
      '`{name}` has not been let into this channel. An admin can do that: `relay grant channel` <#{channelId}> `{name}`.',
      { name, channelId: channel.id },
    ),
  );
}

/** A channel and, for a thread, its parent. The parent's settings apply unless the thread has its own. */
export function placesOf(channel: Channel): readonly string[] {
  return channel.isThread() && channel.parentId !== null ? [channel.id, channel.parentId] : [channel.id];
}

/** A channel, its parent and its category: a grant for a channel or category includes everything below it. */
function containersOf(channel: GuildBasedChannel): readonly string[] {
  const parent = channel.isThread() ? channel.parent : channel;
  const ids = [channel.id, parent?.id, parent?.parentId];
  return ids.filter((id): id is string => typeof id === 'string');
}

/** Whether a grant for these channels covers this one. The allowed acts are decided for each call. */
export function isLetInto(channels: IdentityGrant['channels'], channel: Channel): boolean {
  if (channels === 'all') return true;
  const ids = channel.isDMBased() ? [channel.id] : containersOf(channel);
  return ids.some((id) => channels.includes(id));
}
