import type { SendableChannels } from 'discord.js';
import { compareIds, OLDEST } from '../snowflake.js';
import type { ChannelLog } from '../store/log.js';

/**
 * Whether Discord has said more in a channel than the log was told of: while the plugin was disabled or paused, or before the channel came back
 * into view. Own messages do not count: discord.js has them from sending, before their event comes.
 */
export function hasGap(log: ChannelLog, channel: SendableChannels): boolean {
  const isNews = (id: string) => compareIds(id, log.newest) > 0;
  if (isNews(channel.lastMessageId ?? OLDEST)) return true;
  const botId = channel.client.user.id;
  return channel.messages.cache.some(({ id, partial, author }) => isNews(id) && !partial && author.id !== botId);
}
