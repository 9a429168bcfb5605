import type { Identities, Identity, IdentityGrant } from '@cinnabar/sdk';

/** What an agent may do from the start: read, answer, react. Everything else an admin grants. */
export const FIRST_TOOLS = [
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

export function allowed(tools: readonly string[]): IdentityGrant['tools'] {
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
