import type { SendableChannels } from 'discord.js';

/** Whether the bot's messages may be replies there. Discord lets one refer only to what one may read: without that, an answer stands by itself. */
export function mayRefer(channel: SendableChannels): boolean {
  const me = channel.isDMBased() ? null : channel.guild.members.me;
  if (channel.isDMBased() || me === null) return true;
  return channel.permissionsFor(me).has('ReadMessageHistory');
}
