import { type Client, type ClientOptions, Options, SnowflakeUtil } from 'discord.js';

/** Of each channel: for replies and reactions to what has just been said. Plugins keep what else they need themselves. */
const MESSAGES_PER_CHANNEL = 100;
/** Older messages go, so that quiet channels keep none. */
const MESSAGE_LIFETIME_S = 3_600;
const MESSAGE_SWEEP_S = 600;
/** Of a guild, those seen first go first. Whoever speaks is there again. */
const MEMBERS_PER_GUILD = 5_000;
const USERS = 20_000;
const USERS_PER_REACTION = 50;

/** Bounds of what discord.js remembers, which by itself is bounded for messages alone. The bot itself always stays. */
export function cacheOptions(): Required<Pick<ClientOptions, 'makeCache' | 'sweepers'>> {
  return {
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      MessageManager: MESSAGES_PER_CHANNEL,
      GuildMemberManager: { maxSize: MEMBERS_PER_GUILD, keepOverLimit: ({ id, client }) => id === client.user.id },
      UserManager: { maxSize: USERS, keepOverLimit: ({ id, client }) => id === client.user.id },
      ReactionUserManager: USERS_PER_REACTION,
    }),
    sweepers: {
      // Archived threads go after four hours.
      ...Options.DefaultSweeperSettings,
      messages: { interval: MESSAGE_SWEEP_S, lifetime: MESSAGE_LIFETIME_S },
    },
  };
}

const FEW_DIRECT_MESSAGES = 1_000;
const DIRECT_SWEEP_MS = 3_600_000;
const IDLE_MS = 24 * 3_600_000;

/**
 * Drops direct message channels in which nothing was said for a day, when there are many: discord.js keeps each for good. They come back with
 * the next message, as they do after a restart. Follows the computer's clock, like the sweepers of discord.js.
 * @returns stops it
 */
export function sweepDirectMessages(client: Client): () => void {
  const timer = setInterval(() => dropIdleDirectMessages(client, Date.now()), DIRECT_SWEEP_MS).unref();
  return () => clearInterval(timer);
}

/** @param most so many may stay whether or not they are idle */
export function dropIdleDirectMessages(client: Client, now: number, most = FEW_DIRECT_MESSAGES): void {
  const direct = client.channels.cache.filter((channel) => channel.isDMBased());
  if (direct.size <= most) return;
  for (const channel of direct.values()) {
    const last = SnowflakeUtil.timestampFrom(channel.lastMessageId ?? channel.id);
    if (now - last > IDLE_MS) client.channels.cache.delete(channel.id);
  }
}
