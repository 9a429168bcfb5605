import { isDotMessage, repliesToOwn, type Turn } from '@cinnabar/sdk';
import { type Message, MessageType } from 'discord.js';

/**
 * Why a message is for the bot, or `undefined` when it is not. Runs for every message, so the common case is decided by a few field reads.
 * Bots and webhooks never count, nor do mentions of a role or of everyone, nor dot messages.
 */
export function triggerOf(message: Message, botId: string | undefined): Turn['trigger'] | undefined {
  const { author, mentions } = message;
  if (message.guildId !== null && mentions.users.size === 0 && message.reference === null) return undefined;
  if (author.bot || message.webhookId !== null || botId === undefined) return undefined;
  if (message.type !== MessageType.Default && message.type !== MessageType.Reply) return undefined;
  if (isDotMessage(message.content)) return undefined;
  if (message.guildId === null) return 'dm';
  if (repliesToOwn(message)) return 'reply';
  return mentions.users.has(botId) ? 'mention' : undefined;
}

/** What was said, without the mention that called the bot: the first one, with the comma or colon behind it. */
export function withoutMention(content: string, botId: string): string {
  const mention = new RegExp(`^\\s*<@!?${botId}>\\s*[,:;]?|<@!?${botId}>\\s*$`);
  return content.replace(mention, '').trim();
}
