import type { Configuration } from '@cinnabar/sdk';
import type { Client, SendableChannels } from 'discord.js';
import type { ChatConfig, EffectiveConfig } from '../config/schema.js';
import type { ChannelHistory } from '../history/types.js';

/** The configuration in force. */
export interface ConfigSource extends Pick<ChatConfig, 'refusalOf'> {
  /** In a channel, its pins included. */
  forChannel(channel: SendableChannels): Promise<EffectiveConfig>;
  /** In a guild (`null`: direct messages), where no pin says otherwise; asks nothing of Discord. */
  forGuild(guildId: string | null): Promise<EffectiveConfig>;
}

export interface ConfigSourceParts {
  readonly chatConfig: ChatConfig;
  readonly history: ChannelHistory;
  readonly configuration: Configuration;
  readonly client: Client;
}

export function createConfigSource({ chatConfig, history, configuration, client }: ConfigSourceParts): ConfigSource {
  const forGuild = (guildId: string | null) => chatConfig.forChannel({ guildId, pins: [] });
  return {
    forGuild,
    refusalOf: (guildId, key, value) => chatConfig.refusalOf(guildId, key, value),
    async forChannel(channel) {
      if (channel.isDMBased()) return forGuild(null);
      const guildId = channel.guild.id;
      const { config } = await forGuild(guildId);
      const names = [configuration.botName, config.name, config.innerName, ...discordNames(client, guildId)];
      const pins = await history.pinnedConfigs(
        channel,
        names.filter((name) => name !== undefined),
      );
      return pins.length === 0 ? forGuild(guildId) : chatConfig.forChannel({ guildId, pins });
    },
  };
}

/** What the bot is called on Discord. */
function discordNames(client: Client, guildId: string | null): readonly string[] {
  const { user } = client;
  if (user === null) return [];
  const nickname = guildId === null ? undefined : client.guilds.cache.get(guildId)?.members.me?.displayName;
  return [user.username, user.displayName, ...(nickname === undefined ? [] : [nickname])];
}
