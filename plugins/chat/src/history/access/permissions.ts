import { ChannelType, type GuildMember, PermissionFlagsBits, type SendableChannels } from 'discord.js';

const { ViewChannel, ReadMessageHistory, Connect } = PermissionFlagsBits;

/** Whether a member's permissions let them read what was said in a guild's channel. Membership of private threads is another question. */
export function hasPermissions(channel: SendableChannels, member: GuildMember): boolean {
  if (channel.isDMBased() || channel.guild.id !== member.guild.id) return false;
  // Text in voice channels is for those who may join them.
  const needed = ViewChannel | ReadMessageHistory | (channel.isVoiceBased() ? Connect : 0n);
  return channel.permissionsFor(member)?.has(needed) ?? false;
}

/** Whether the bot may read a channel: always in a direct message. */
export function mayBotRead(channel: SendableChannels): boolean {
  if (channel.isDMBased()) return true;
  const { me } = channel.guild.members;
  if (me === null || !hasPermissions(channel, me)) return false;
  if (channel.type !== ChannelType.PrivateThread) return true;
  return channel.joined || channel.permissionsFor(me)?.has(PermissionFlagsBits.ManageThreads) === true;
}
