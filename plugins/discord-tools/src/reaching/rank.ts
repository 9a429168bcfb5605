import { type Actor, UserError } from '@cinnabar/sdk';
import type { Guild, GuildMember, PermissionsBitField, Role } from 'discord.js';
import { nameText } from '../reading/names.js';
import { memberOf } from './guilds.js';

/**
 * The order of roles holds for whoever asks as it does for the bot: through the bot nobody moves what stands above themselves.
 * See https://discord.com/developers/docs/topics/permissions#permission-hierarchy
 */

export interface Ranks {
  readonly asking: GuildMember;
  readonly bot: GuildMember;
}

export async function ranksIn(guild: Guild, { userId }: Pick<Actor, 'userId'>): Promise<Ranks> {
  return { asking: await memberOf(guild, userId), bot: guild.members.me ?? (await guild.members.fetchMe()) };
}

/** @throws UserError unless the role is below both who asks and the bot */
export function requireAboveRole({ asking, bot }: Ranks, role: Role): void {
  const name = nameText(role.name);
  if (!isAbove(asking, role)) throw new UserError(`The role ${name} is not below your highest role.`);
  if (!isAbove(bot, role)) throw new UserError(`The role ${name} is not below my highest role.`);
}

/** @throws UserError unless the member is below both who asks and the bot */
export function requireAboveMember({ asking, bot }: Ranks, member: GuildMember): void {
  const name = nameText(member.displayName);
  if (member.guild.ownerId === member.id) throw new UserError(`${name} owns this server.`);
  if (!isAbove(asking, member.roles.highest)) throw new UserError(`${name} is not below you.`);
  if (!isAbove(bot, member.roles.highest)) throw new UserError(`${name} is not below me.`);
}

/** @throws UserError when a role would stand at or above who asks, or the bot */
export function requireBelow({ asking, bot }: Ranks, position: number): void {
  if (asking.guild.ownerId !== asking.id && position >= asking.roles.highest.position) {
    throw new UserError('A role can only be moved to below your highest role.');
  }
  if (position >= bot.roles.highest.position) throw new UserError('A role can only be moved to below my highest role.');
}

/** Nobody gives or takes what they do not have. @throws UserError that names what is missing */
export function requireHeld(held: Readonly<PermissionsBitField>, changed: Readonly<PermissionsBitField>): void {
  const missing = held.missing(changed);
  if (missing.length === 0) return;
  throw new UserError(`You can only give or take permissions that you have yourself; you lack ${missing.join(', ')}.`);
}

function isAbove(member: GuildMember, role: Role): boolean {
  return member.guild.ownerId === member.id || member.roles.highest.comparePositionTo(role) > 0;
}
