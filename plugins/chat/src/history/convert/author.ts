import type { Message } from 'discord.js';
import type { HistoryAuthor } from '../types.js';

/**
 * Whether a webhook speaks, which may use any name. Answers to interactions carry a webhook's id too, but it is the application's,
 * and their author is the bot.
 */
export function isWebhook({ webhookId, applicationId }: Message): boolean {
  return webhookId !== null && webhookId !== applicationId;
}

/** Who speaks: a user, or one of the names that a webhook uses. */
export function speakerOf(message: Message): string {
  return isWebhook(message) ? `${message.webhookId}/${message.author.username}` : message.author.id;
}

export function authorOf(message: Message): HistoryAuthor {
  const { author, client } = message;
  const webhook = isWebhook(message);
  return {
    id: author.id,
    speaker: speakerOf(message),
    displayName: webhook ? author.username : (message.member?.displayName ?? author.displayName),
    username: author.username,
    bot: author.bot || webhook,
    self: !webhook && author.id === client.user.id,
    ...(webhook && message.applicationId === client.application.id ? { ownWebhook: true } : {}),
  };
}
