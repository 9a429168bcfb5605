import { UserError, z } from '@cinnabar/sdk';
import type { ChannelType, GuildChannelCreateOptions, GuildChannelTypes } from 'discord.js';
import type { Caller, Parts } from '../../parts.js';
import { categoryChannel } from '../../reaching/channels.js';
import { guildOf } from '../../reaching/guilds.js';
import { auditReason } from '../../reaching/reason.js';
import { nameText } from '../../reading/names.js';

/** What making and changing channels needs, of who asks and of the bot. */
export const MANAGING = ['ViewChannel', 'ManageChannels'] as const;

export const channelNameField = z.string().trim().min(1).max(100).describe('Name');
export const topicField = z.string().max(1024).optional().describe('What the channel is about');
export const inCategoryField = z.string().max(30).optional().describe('The category to create it in: its id');

export interface CreatedChannel {
  readonly id: string;
  readonly name: string;
}

interface Wanted extends Pick<GuildChannelCreateOptions, 'topic' | 'userLimit' | 'position'> {
  readonly guildId: string;
  readonly name: string;
  readonly type: Exclude<GuildChannelTypes, ChannelType.GuildDirectory>;
  readonly categoryId?: string | undefined;
}

/** Makes a channel; within a category it starts with the category's permissions. */
export async function createChannel(
  parts: Parts,
  caller: Caller,
  { guildId, categoryId, ...options }: Wanted,
  reason: string | undefined,
): Promise<CreatedChannel> {
  const guild = guildOf(parts.client, guildId);
  const parent = categoryId === undefined ? null : await categoryChannel(parts.client, categoryId);
  if (parent !== null && parent.guildId !== guild.id) throw new UserError('That category is not in this server.');
  const channel = await guild.channels.create({ ...options, parent, reason: auditReason(parts, caller, reason) });
  return { id: channel.id, name: channel.name };
}

export function createdText(what: string, { id, name }: CreatedChannel): string {
  return `✓ Created the ${what} ${nameText(name)} (${id}).`;
}
