import type { IdentityProfiles } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { RelaySettings } from '../settings.js';
import { byKey } from './choose.js';
import { agentKeyOf, guildIdentity } from './identity.js';
import type { Rosters } from './roster.js';

export interface ProfileParts {
  readonly rosters: Pick<Rosters, 'enabled'>;
  readonly settings: Pick<RelaySettings, 'guild'>;
  readonly client: Client;
}

/** Under which name and picture a guild's agents post: their own, where members have several to tell apart, or as the guild has set. */
export function createProfiles({ rosters, settings, client }: ProfileParts): IdentityProfiles {
  return async ({ id }, guildId) => {
    const roster = rosters.enabled(guildId);
    const chosen = roster && byKey(roster, agentKeyOf(id));
    if (guildId === null || chosen === undefined || id !== guildIdentity(guildId, chosen.key)) return undefined;
    const { ownName } = await settings.guild(guildId).get();
    const isOwn = ownName === 'on' || (ownName === 'auto' && Object.keys(roster?.agents ?? {}).length > 1);
    if (!isOwn) return undefined;
    const { name, avatar } = chosen.agent;
    return { name, avatarUrl: avatar ?? client.user?.displayAvatarURL({ extension: 'png' }) };
  };
}
