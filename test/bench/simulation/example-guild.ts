import { createChance } from '../memory/chance.js';

const CHANNELS = 30;
const ROLES = 20;
const EMOJIS = 20;
const THREADS = 4;
const WORDS =
  'game night news help off topic music art memes rules voice staff trade raid guild event quiz bots media food pets travel books code'.split(
    ' ',
  );

/**
 * A server of ordinary size as the cluster stores it: Discord's payload without members and presences. The fields are those of
 * https://docs.discord.com/developers/resources/guild#guild-object; their counts are assumed.
 */
export function exampleGuild(id: string): string {
  // Ids and names differ from each other, so that they compress no better than real ones.
  const chance = createChance(Number(BigInt(id) & 0xffff_ffffn));
  const digits = (count: number) => Array.from({ length: count }, () => chance.below(10)).join('');
  const snowflake = () => `1${digits(18)}`;
  const words = (count: number) => Array.from({ length: count }, () => chance.pick(WORDS)).join(' ');
  const hash = () => Array.from({ length: 32 }, () => chance.below(16).toString(16)).join('');
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => ({ id: snowflake(), index }));
  const overwrite = (on: string) => ({ id: on, type: 0, allow: '1024', deny: '2251799813685248' });
  return JSON.stringify({
    id,
    name: words(4),
    icon: hash(),
    owner_id: id,
    region: 'rotterdam',
    afk_timeout: 300,
    verification_level: 2,
    default_message_notifications: 1,
    explicit_content_filter: 2,
    features: ['COMMUNITY', 'NEWS', 'ANIMATED_ICON', 'INVITE_SPLASH', 'WELCOME_SCREEN_ENABLED'],
    mfa_level: 1,
    system_channel_id: id,
    system_channel_flags: 0,
    rules_channel_id: id,
    premium_tier: 1,
    premium_subscription_count: 4,
    preferred_locale: 'en-US',
    nsfw_level: 0,
    stickers: [],
    joined_at: '2026-01-01T00:00:00.000000+00:00',
    large: true,
    member_count: 700,
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
    members: [{ user: { id, username: 'bot', discriminator: '0', avatar: null, bot: true }, roles: [id], flags: 0 }],
    voice_states: numbered(4).map(({ id: user }) => ({
      user_id: user,
      channel_id: id,
      session_id: hash(),
      deaf: false,
      mute: false,
      self_deaf: false,
      self_mute: true,
      self_video: false,
      suppress: false,
      request_to_speak_timestamp: null,
    })),
    roles: numbered(ROLES).map(({ id: role, index }) => ({
      id: role,
      name: words(2),
      description: null,
      color: chance.below(2 ** 24),
      colors: { primary_color: chance.below(2 ** 24), secondary_color: null, tertiary_color: null },
      hoist: true,
      icon: null,
      unicode_emoji: null,
      position: index,
      permissions: digits(16),
      managed: false,
      mentionable: false,
      flags: 0,
    })),
    channels: numbered(CHANNELS).map(({ id: channel, index }) => ({
      id: channel,
      type: index % 6 === 0 ? 4 : 0,
      name: words(3),
      position: index,
      flags: 0,
      parent_id: id,
      topic: words(14),
      last_message_id: snowflake(),
      last_pin_timestamp: '2026-01-01T00:00:00.000000+00:00',
      rate_limit_per_user: 0,
      nsfw: false,
      permission_overwrites: [overwrite(id), overwrite(snowflake())],
    })),
    threads: numbered(THREADS).map(({ id: thread }) => ({
      id: thread,
      type: 11,
      name: words(5),
      parent_id: id,
      owner_id: snowflake(),
      last_message_id: snowflake(),
      message_count: 12,
      member_count: 4,
      rate_limit_per_user: 0,
      flags: 0,
      thread_metadata: { archived: false, auto_archive_duration: 4_320, archive_timestamp: null, locked: false },
    })),
    emojis: numbered(EMOJIS).map(({ id: emoji }) => ({
      id: emoji,
      name: words(1),
      roles: [],
      require_colons: true,
      managed: false,
      animated: false,
      available: true,
    })),
  });
}
