import { type Actor, UserError } from '@cinnabar/sdk';
import type { CategoryChannel, GuildChannel, PermissionsBitField, Role } from 'discord.js';
import type { Parts } from '../../parts.js';
import { channelOf } from '../../reaching/channels.js';
import { roleOf } from '../../reaching/guilds.js';
import { ranksIn, requireAboveRole } from '../../reaching/rank.js';

/** What changing the permissions of a channel needs, of who asks and of the bot. */
export const PERMITTING = ['ViewChannel', 'ManageRoles'] as const;

export interface Overwritten {
  readonly channelId: string;
  readonly role: string;
}

interface Governed {
  readonly channel: GuildChannel | CategoryChannel;
  readonly role: Role;
  /** What who asks may do there. */
  readonly held: Readonly<PermissionsBitField>;
}

/** A channel and a role in it that who asks stands above. @throws UserError */
export async function governed(parts: Parts, actor: Actor, channelId: string, roleId: string): Promise<Governed> {
  const channel = await channelOf(parts.client, channelId);
  if (channel.isDMBased() || channel.isThread())
    throw new UserError('Only channels and categories of a server have permissions.');
  const role = roleOf(channel.guild, roleId);
  const ranks = await ranksIn(channel.guild, actor);
  // Everybody has the role @everyone: who may set permissions at all may set them for it.
  if (role.id !== channel.guild.id) requireAboveRole(ranks, role);
  return { channel, role, held: channel.permissionsFor(ranks.asking) };
}
