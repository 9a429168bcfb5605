import { type ToolDefinition, z } from '@cinnabar/sdk';
import { ChannelType, type Guild, type GuildBasedChannel } from 'discord.js';
import type { Parts } from '../../parts.js';
import { guildField } from '../../reaching/fields.js';
import { may } from '../../reaching/may.js';
import { readId } from '../../reaching/references.js';
import { seenGuild } from '../../reaching/visible-channels.js';
import { quoted } from '../../reading/message-text.js';
import { nameText } from '../../reading/names.js';
import { channelSource } from '../../reading/sources.js';

const input = z.object({ guildId: guildField });

interface ChannelView {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly categoryId: string | null;
  readonly topic?: string;
}

interface ServerInfo {
  readonly id: string;
  readonly name: string;
  /** In the order of the channel list. */
  readonly channels: readonly ChannelView[];
  /** Of the server as a whole: not for an agent that was let into some of its channels. */
  readonly whole?: {
    readonly description: string | null;
    readonly ownerId: string;
    readonly members: number;
    readonly roles: number;
    readonly boosts: number;
    readonly createdAt: string;
    readonly features: readonly string[];
  };
}

export function getServerInfo(parts: Parts): ToolDefinition<typeof input, ServerInfo> {
  const tool = 'discord_get_server_info';
  return {
    name: tool,
    description: 'Show a server: its name, the channels that you can see with their ids and topics, members, features.',
    input,
    risk: 'read',
    sources: ({ id, channels }) => [
      { guildId: id },
      ...channels.map((channel) => channelSource(parts.client, channel.id)),
    ],
    examples: ['what channels are there in server {guildId}?', 'tell me about the server {guildId}'],
    present: {
      sentence: () => "I'll look up the server",
      action: 'Show server',
      success: (_, info) => infoText(info),
    },
    async run({ guildId }, { actor }) {
      const caller = { actor, tool };
      const { guild, channels } = await seenGuild(
        parts,
        caller,
        parts.client.guilds.cache.get(readId(guildId, 'server')),
      );
      const isWhole = await may(parts, caller, { guildId: guild.id }, []);
      return {
        id: guild.id,
        name: guild.name,
        channels: inOrder(channels).map(viewChannel),
        ...(isWhole ? { whole: viewWhole(guild) } : {}),
      };
    },
  };
}

function viewWhole(guild: Guild): NonNullable<ServerInfo['whole']> {
  return {
    description: guild.description,
    ownerId: guild.ownerId,
    members: guild.memberCount,
    roles: guild.roles.cache.size,
    boosts: guild.premiumSubscriptionCount ?? 0,
    createdAt: guild.createdAt.toISOString(),
    features: guild.features,
  };
}

function viewChannel(channel: GuildBasedChannel): ChannelView {
  const topic = 'topic' in channel ? channel.topic : null;
  return {
    id: channel.id,
    name: channel.name,
    type: ChannelType[channel.type].replace(/^Guild/, '').toLowerCase(),
    categoryId: channel.parentId,
    ...(topic === null ? {} : { topic }),
  };
}

function inOrder(channels: readonly GuildBasedChannel[]): readonly GuildBasedChannel[] {
  const place = (channel: GuildBasedChannel) => ('rawPosition' in channel ? channel.rawPosition : 0);
  return [...channels].sort((one, other) => place(one) - place(other));
}

function infoText({ id, name, channels, whole }: ServerInfo): string {
  const lines = [`${nameText(name)} (server ${id})`];
  if (whole !== undefined) {
    if (whole.description !== null) lines.push(quoted(whole.description));
    lines.push(
      `${whole.members} members · ${whole.roles} roles · ${whole.boosts} boosts · owner ${whole.ownerId} · since ${whole.createdAt}`,
    );
    if (whole.features.length > 0) lines.push(`features: ${whole.features.join(', ')}`);
  }
  lines.push('channels:');
  for (const channel of channels) {
    const within = channel.categoryId === null ? '' : ` · in ${channel.categoryId}`;
    const topic = channel.topic === undefined ? '' : ` · ${nameText(channel.topic)}`;
    lines.push(`${channel.type} ${nameText(channel.name)} (${channel.id})${within}${topic}`);
  }
  return lines.join('\n');
}
