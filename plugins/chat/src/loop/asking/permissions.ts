import { type Turn, UserError } from '@cinnabar/sdk';
import { PermissionFlagsBits } from 'discord.js';

/** @throws UserError naming the permission that the bot lacks to read the channel's history */
export function assertReadable({ channel }: Pick<Turn, 'channel'>): void {
  if (channel.isDMBased()) return;
  const me = channel.guild.members.me;
  const mine = me === null ? null : channel.permissionsFor(me);
  if (mine === null || mine.has(PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory)) return;
  const missing = mine.has(PermissionFlagsBits.ViewChannel) ? 'Read Message History' : 'View Channel';
  throw new UserError(`I cannot read what was said here: I am missing the permission ${missing} in this channel.`);
}
