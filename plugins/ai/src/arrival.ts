import type { Turn } from '@cinnabar/sdk';
import { type Message, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import { withoutMention } from './activation.js';
import { type AnswerParts, answering } from './answer.js';
import type { Arrival } from './intake.js';

/** The turn that a message makes; `undefined` where the bot may not answer it. */
export function arrivalOf(
  message: Message,
  trigger: Turn['trigger'],
  botId: string,
  parts: AnswerParts,
): Arrival | undefined {
  const { channel, author: user, member, guild } = message;
  if (!channel.isSendable() || !maySend(channel)) return undefined;
  return {
    trigger,
    text: withoutMention(message.content, botId),
    actor: { userId: user.id, guildId: message.guildId, channelId: channel.id },
    user,
    member,
    guild,
    channel,
    message,
    signal: parts.signal,
    reply: answering(message, channel, parts),
  };
}

function maySend(channel: SendableChannels): boolean {
  if (channel.isDMBased()) return true;
  const needed = channel.isThread() ? PermissionFlagsBits.SendMessagesInThreads : PermissionFlagsBits.SendMessages;
  const me = channel.guild.members.me;
  return me === null || channel.permissionsFor(me).has(PermissionFlagsBits.ViewChannel | needed);
}
