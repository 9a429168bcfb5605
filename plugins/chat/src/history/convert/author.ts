import { isOwnWebhookMessage, isWebhookMessage, speakerId } from '@cinnabar/sdk';
import { type Message, MessageFlags } from 'discord.js';
import type { HistoryAuthor } from '../types.js';

/**
 * Whether it is tool output that this bot has made visible. It goes through the same webhook as what the bot says under other names, and has the
 * flag `SuppressNotifications`, which those messages lack.
 */
function isToolOutput(message: Message): boolean {
  return isOwnWebhookMessage(message) && message.flags.has(MessageFlags.SuppressNotifications);
}

/** Who speaks: a user, or one of the names that another's webhook uses. What the bot says under another name, it says itself. */
export function speakerOf(message: Message): string {
  if (isOwnWebhookMessage(message) && !isToolOutput(message)) return message.client.user.id;
  return speakerId(message);
}

export function authorOf(message: Message): HistoryAuthor {
  const { author, client } = message;
  const webhook = isWebhookMessage(message);
  const toolOutput = isToolOutput(message);
  const self = webhook ? isOwnWebhookMessage(message) && !toolOutput : author.id === client.user.id;
  return {
    id: self ? client.user.id : author.id,
    speaker: speakerOf(message),
    displayName: webhook ? author.username : (message.member?.displayName ?? author.displayName),
    username: self ? client.user.username : author.username,
    bot: author.bot || webhook,
    self,
    ...(toolOutput ? { ownWebhook: true } : {}),
  };
}
