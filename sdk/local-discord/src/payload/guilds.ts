import {
  type APIGuild,
  type GatewayGuildCreateDispatchData,
  GuildSystemChannelFlags,
  Locale,
} from 'discord-api-types/v10';
import type { LocalGuild, LocalMember } from '../state/guilds.js';
import { guildChannelPayload, isThreadType, threadPayload } from './channels.js';
import { emojiPayload, isoTime, memberPayload, rolePayload } from './users.js';

const NO_SYSTEM_FLAGS: GuildSystemChannelFlags = GuildSystemChannelFlags.SuppressJoinNotifications & 0;

export function guildPayload(guild: LocalGuild): APIGuild {
  return {
    id: guild.id,
    name: guild.name,
    owner_id: guild.ownerId,
    description: guild.description,
    icon: null,
    splash: null,
    banner: null,
    discovery_splash: null,
    features: [],
    roles: [...guild.roles.values()].map(rolePayload),
    emojis: [...guild.emojis.values()].map(emojiPayload),
    stickers: [],
    afk_channel_id: null,
    afk_timeout: 300,
    system_channel_id: guild.systemChannelId,
    system_channel_flags: NO_SYSTEM_FLAGS,
    rules_channel_id: null,
    public_updates_channel_id: null,
    safety_alerts_channel_id: null,
    widget_enabled: false,
    verification_level: 0,
    default_message_notifications: 0,
    explicit_content_filter: 0,
    mfa_level: 0,
    application_id: null,
    vanity_url_code: null,
    premium_tier: 0,
    premium_subscription_count: 0,
    premium_progress_bar_enabled: false,
    preferred_locale: Locale.EnglishUS,
    nsfw_level: 0,
    hub_type: null,
    incidents_data: null,
    widget_channel_id: null,
    max_presences: null,
    max_members: 500_000,
    max_video_channel_users: 25,
    max_stage_video_channel_users: 50,
    region: 'deprecated',
  };
}

/** GUILD_CREATE for one bot: with the members that Discord sends to it, and the threads that it can see. */
export function guildCreatePayload(
  guild: LocalGuild,
  self: LocalMember,
  members: LocalMember[],
): GatewayGuildCreateDispatchData {
  return {
    ...guildPayload(guild),
    joined_at: isoTime(self.joinedAt),
    large: false,
    unavailable: false,
    member_count: guild.members.size,
    members: members.map(memberPayload),
    channels: [...guild.channels.values()].map((channel) => guildChannelPayload(channel, guild)),
    threads: [...guild.threads.values()].flatMap((channel) =>
      isThreadType(channel.type) && !channel.thread?.archived
        ? [threadPayload(channel, channel.type, self.user.id)]
        : [],
    ),
    voice_states: [],
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
  };
}
