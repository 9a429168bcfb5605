import { type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import { ChannelType } from 'discord.js';
import { fetchImage } from '../../images/fetch-image.js';
import type { Caller, Parts } from '../../parts.js';
import { channelOf } from '../../reaching/channels.js';
import { reasonField, webhookField } from '../../reaching/fields.js';
import { may } from '../../reaching/may.js';
import { channelPlace, webhookPlace } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { nameText } from '../../reading/names.js';
import { avatarField, MANAGING_WEBHOOKS, tokenField, viewWebhook, type WebhookView, webhookOf } from './webhook.js';

const input = z.object({
  webhookId: webhookField,
  webhookToken: tokenField,
  name: z.string().trim().min(1).max(80).optional().describe('New name'),
  avatar: avatarField,
  channelId: z.string().max(200).optional().describe('The channel to move it to: its id'),
  reason: reasonField,
});

export function editWebhook(parts: Parts): ToolDefinition<typeof input, WebhookView> {
  const tool = 'discord_edit_webhook';
  return {
    name: tool,
    description: 'Change the name or picture of a webhook, or move it to another channel.',
    input,
    risk: 'write',
    idempotent: true,
    access: { member: MANAGING_WEBHOOKS, bot: MANAGING_WEBHOOKS },
    place: ({ webhookId }) => webhookPlace(parts.client, webhookId),
    examples: ['rename the webhook {webhookId} to {name}'],
    present: {
      sentence: () => "I'll change a webhook",
      action: 'Change webhook',
      success: (_, { id, name, channelId }) => `✓ Changed the webhook ${nameText(name)} (${id}) in <#${channelId}>.`,
      cancelled: () => 'Cancelled changing the webhook.',
    },
    async run({ webhookId, webhookToken, name, avatar, channelId, reason }, { actor, signal }) {
      const caller = { actor, tool };
      const webhook = await webhookOf(parts.client, webhookId, webhookToken);
      const channel = channelId === undefined ? undefined : await moveTo(parts, caller, webhook.guildId, channelId);
      const image = avatar === undefined ? undefined : await fetchImage(avatar, signal);
      const edited = await webhook.edit({
        ...(name === undefined ? {} : { name }),
        ...(image === undefined ? {} : { avatar: image }),
        ...(channel === undefined ? {} : { channel }),
        reason: auditReason(parts, caller, reason),
      });
      return viewWebhook(edited);
    },
  };
}

/** A channel of the same guild in which who asks manages webhooks as well. @throws UserError */
async function moveTo(parts: Parts, caller: Caller, guildId: string, channelId: string) {
  const place = await channelPlace(parts.client, channelId);
  if (place.guildId !== guildId || !(await may(parts, caller, place, MANAGING_WEBHOOKS, MANAGING_WEBHOOKS))) {
    throw new UserError('There is no channel with that id to which it can be moved.');
  }
  const channel = await channelOf(parts.client, channelId);
  if (channel.type === ChannelType.GuildText || channel.type === ChannelType.GuildForum) return channel;
  throw new UserError('A webhook is moved to a text channel or a forum.');
}
