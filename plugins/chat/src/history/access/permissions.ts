import { ChannelType, PermissionFlagsBits, type SendableChannels } from 'discord.js';

const { ViewChannel, ReadMessageHistory, Connect } = PermissionFlagsBits;

/** Whether the bot may read a channel: always in a direct message. */
export function mayBotRead(channel: SendableChannels): boolean {
  if (channel.isDMBased()) return true;
  const { me } = channel.guild.members;
  const mine = me === null ? null : channel.permissionsFor(me);
  // Text in voice channels is for those who may join them.
  const needed = ViewChannel | ReadMessageHistory | (channel.isVoiceBased() ? Connect : 0n);
  if (mine === null || !mine.has(needed)) return false;
  if (channel.type !== ChannelType.PrivateThread) return true;
  return channel.joined || mine.has(PermissionFlagsBits.ManageThreads);
}
