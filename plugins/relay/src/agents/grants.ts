import { type Identities, type Identity, type IdentityGrant, type Tools, UserError } from '@cinnabar/sdk';
import type { Channel, GuildBasedChannel } from 'discord.js';
import type { Chosen } from './roster.js';

/** What an agent may do from the start: read, answer, react. Everything else an admin grants. */
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

/** As whom a guild's agent acts. */
export function guildIdentity(guildId: string, key: string): string {
  return `${PLUGIN}:${guildId}:${key}`;
}

/** As whom the agent acts that answers direct messages: everybody's, or the one that a person has for themselves. */
export function directIdentity(ownerId: string | undefined): string {
  return ownerId === undefined ? `${PLUGIN}:dm` : `${PLUGIN}:dm:${ownerId}`;
}

function allowed(tools: readonly string[]): IdentityGrant['tools'] {
  return Object.fromEntries(tools.map((name) => [name, 'allow' as const]));
}

/** The grant of an agent that answers one person's direct messages: that channel, and nothing else. */
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

/** Changes the grant in a guild, or makes it. */
export async function saveGrant(identities: Identities, id: string, name: string, grant: IdentityGrant): Promise<void> {
  const known: Identity = (await identities.get(id)) ?? { id, plugin: PLUGIN, name, grants: [] };
  const others = known.grants.filter(({ guildId }) => guildId !== grant.guildId);
  await identities.save({ ...known, name, grants: [...others, grant] });
}

/** An agent's key in its roster, or among those of direct messages, by its identity; `undefined` for identities of others. */
export function agentKeyOf(identity: string): string | undefined {
  const [plugin, place, key] = identity.split(':');
  if (plugin !== PLUGIN) return undefined;
  return place === 'dm' ? directKey(key) : key;
}

/** The key by which events name the agent of direct messages: everybody's, or a person's own. */
export function directKey(ownerId: string | undefined): string {
  return ownerId === undefined ? 'direct' : `direct-${ownerId}`;
}

/** As whom the Letta server lists the tools. */
export const LISTER = `${PLUGIN}:listing`;

const DISCORD = 'discord_';

/** What a new agent may do: whatever only reads of Discord, answering, and reacting. Also tools that the host does not have yet. */
export function firstTools(tools: Tools): IdentityGrant['tools'] {
  const reading = tools.list().filter(({ name, risk }) => name.startsWith(DISCORD) && risk === 'read');
  return allowed([...new Set([...FIRST_TOOLS, ...reading.map(({ name }) => name)])]);
}

/** @throws UserError when a guild's agent has not been let into the channel, with how to change that */
export async function assertLetIn(
  identities: Identities,
  guildId: string,
  { key, agent: { name } }: Chosen,
  channel: Channel,
): Promise<void> {
  const grant = await grantOf(identities, guildIdentity(guildId, key), guildId);
  if (grant !== undefined && isLetInto(grant.channels, channel)) return;
  throw new UserError(
    `\`${name}\` has not been let into this channel. An admin can do that: \`relay grant channel\` <#${channel.id}> \`${name}\`.`,
  );
}

/** A channel, and what it belongs to: a thread's channel. What holds there holds here, unless the channel has its own. */
export function placesOf(channel: Channel): readonly string[] {
  return channel.isThread() && channel.parentId !== null ? [channel.id, channel.parentId] : [channel.id];
}

/** The same, with the category: what an agent is let into, it is let into with everything below. */
function containersOf(channel: GuildBasedChannel): readonly string[] {
  const parent = channel.isThread() ? channel.parent : channel;
  const ids = [channel.id, parent?.id, parent?.parentId];
  return ids.filter((id): id is string => typeof id === 'string');
}

/** Whether somebody who was let into these channels has been let into this one. What they may do there is decided for each call. */
export function isLetInto(channels: IdentityGrant['channels'], channel: Channel): boolean {
  if (channels === 'all') return true;
  const ids = channel.isDMBased() ? [channel.id] : containersOf(channel);
  return ids.some((id) => channels.includes(id));
}
