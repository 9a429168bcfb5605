import type { Actor } from '@cinnabar/sdk';
import { PermissionFlagsBits, type SendableChannels } from 'discord.js';
import type { Ask } from '../ask.js';
import type { Members } from './members.js';
import { hasPermissions, mayBotRead } from './permissions.js';

/** Why a channel cannot be read on somebody's behalf; `undefined` when it can. */
export type Refusal = 'bot' | 'reader' | undefined;

/** Only what both the bot and the one who asks may read: a model must not tell people what they could not see. */
export async function refusalFor(
  channel: SendableChannels,
  reader: Actor,
  members: Members,
  ask: Ask,
): Promise<Refusal> {
  if (channel.isDMBased()) return isTheirs(channel, reader) ? undefined : 'reader';
  if (channel.guild.id !== reader.guildId) return 'reader';
  if (!mayBotRead(channel)) return 'bot';
  const member = await members.find(channel.guild, reader.userId, ask);
  if (member === undefined || !hasPermissions(channel, member)) return 'reader';
  // Whoever asks in a thread is in it.
  if (!channel.isThread() || reader.channelId === channel.id) return undefined;
  const moderates = channel.permissionsFor(member)?.has(PermissionFlagsBits.ManageThreads) ?? false;
  return moderates || (await members.isInThread(channel, reader.userId, ask)) ? undefined : 'reader';
}

function isTheirs(channel: SendableChannels, { userId, guildId, channelId }: Actor): boolean {
  if (guildId !== null) return false;
  return channel.id === channelId || ('recipientId' in channel && channel.recipientId === userId);
}
