import { type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import { fetchImage } from '../../images/fetch-image.js';
import type { Parts } from '../../parts.js';
import { channelOf } from '../../reaching/channels.js';
import { channelField, reasonField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { channelInSentence, nameText } from '../../reading/names.js';
import { avatarField, MANAGING_WEBHOOKS, viewWebhook, type WebhookView } from './webhook.js';

const input = z.object({
  channelId: channelField,
  name: z.string().trim().min(1).max(80).describe('The name under which it speaks'),
  avatar: avatarField,
  reason: reasonField,
});

export function createWebhook(parts: Parts): ToolDefinition<typeof input, WebhookView> {
  const tool = 'discord_create_webhook';
  return {
    name: tool,
    description:
      'Create a webhook in a channel. Its id is enough to speak through it with discord_send_webhook_message.',
    input,
    risk: 'write',
    access: { member: MANAGING_WEBHOOKS, bot: MANAGING_WEBHOOKS },
    place: ({ channelId }) => channelPlace(parts.client, channelId),
    examples: ['create a webhook called {name} in {channelId}'],
    present: {
      sentence: ({ name, channelId }) =>
        `I'll create the webhook ${name} in ${channelInSentence(parts.client, channelId)}`,
      said: ['name'],
      action: 'Create webhook',
      success: (_, { id, name, channelId }) => `✓ Created the webhook ${nameText(name)} (${id}) in <#${channelId}>.`,
      cancelled: ({ name }) => `Cancelled creating the webhook ${name}.`,
    },
    async run({ channelId, name, avatar, reason }, { actor, signal }) {
      const channel = await channelOf(parts.client, channelId);
      if (!('createWebhook' in channel)) throw new UserError('There are no webhooks in a channel of this kind.');
      const image = avatar === undefined ? undefined : await fetchImage(avatar, signal);
      const webhook = await channel.createWebhook({
        name,
        ...(image === undefined ? {} : { avatar: image }),
        reason: auditReason(parts, { actor, tool }, reason),
      });
      return viewWebhook(webhook);
    },
  };
}
