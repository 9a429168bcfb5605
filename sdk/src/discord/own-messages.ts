import type { Message, PartialMessage } from 'discord.js';

/**
 * Whether a message was sent through a webhook, which may use any name. Answers to interactions carry a webhook's id too, but it is the
 * application's, and their author is the bot.
 */
export function isWebhookMessage({ webhookId, applicationId }: Message | PartialMessage): boolean {
  return webhookId !== null && webhookId !== applicationId;
}

/** Who speaks: the id of a user; for one of the names that share a webhook, its id and the name as it was sent, which is not safe to show. */
export function speakerId(message: Message): string {
  return isWebhookMessage(message) ? `${message.webhookId}/${message.author.username}` : message.author.id;
}

/** Whether a message was sent through a webhook that this bot has made: under a name of its choice. No other application can send through it. */
export function isOwnWebhookMessage(message: Message | PartialMessage): boolean {
  return isWebhookMessage(message) && message.applicationId === message.client.application.id;
}

/** Whether this bot has sent a message: under its own name, or through a webhook of its own. */
export function isOwnMessage(message: Message | PartialMessage): boolean {
  return message.author?.id === message.client.user.id || isOwnWebhookMessage(message);
}

/**
 * Whether a message replies to one of this bot's. One that was sent through a webhook has to be in the cache, where discord.js puts what a new
 * message replies to.
 */
export function repliesToOwn({ mentions, reference, channel, client }: Message): boolean {
  if (mentions.repliedUser?.id === client.user.id) return true;
  const replied = reference?.messageId === undefined ? undefined : channel.messages.cache.get(reference.messageId);
  return replied !== undefined && isOwnMessage(replied);
}
