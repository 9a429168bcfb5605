import { type APIWebhook, WebhookType } from 'discord-api-types/v10';
import type { LocalWebhook } from '../state/webhook.js';
import { userPayload } from './user.js';

/** A webhook; its token only for those who may use it. */
export function webhookPayload(webhook: LocalWebhook, withCreator: boolean): APIWebhook {
  return {
    id: webhook.id,
    type: WebhookType.Incoming,
    name: webhook.name,
    avatar: webhook.avatar,
    channel_id: webhook.channel.id,
    ...(webhook.channel.guild ? { guild_id: webhook.channel.guild.id } : {}),
    application_id: webhook.application?.id ?? null,
    token: webhook.token,
    ...(withCreator ? { user: userPayload(webhook.creator) } : {}),
  };
}
