import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { reasonField, webhookField } from '../../reaching/fields.js';
import { webhookPlace } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { nameText } from '../../reading/names.js';
import { MANAGING_WEBHOOKS, tokenField, viewWebhook, type WebhookView, webhookOf } from './webhook.js';

const input = z.object({ webhookId: webhookField, webhookToken: tokenField, reason: reasonField });

export function deleteWebhook(parts: Parts): ToolDefinition<typeof input, WebhookView> {
  const tool = 'discord_delete_webhook';
  return {
    name: tool,
    description: 'Delete a webhook. What it has said stays.',
    input,
    risk: 'destructive',
    idempotent: true,
    access: { member: MANAGING_WEBHOOKS, bot: MANAGING_WEBHOOKS },
    place: ({ webhookId }) => webhookPlace(parts.client, webhookId),
    examples: ['delete the webhook {webhookId}'],
    present: {
      sentence: () => "I'll delete a webhook",
      action: 'Delete webhook',
      success: (_, { id, name }) => `✓ Deleted the webhook ${nameText(name)} (${id}).`,
      cancelled: () => 'Cancelled deleting the webhook.',
    },
    async run({ webhookId, webhookToken, reason }, { actor }) {
      const webhook = await webhookOf(parts.client, webhookId, webhookToken);
      const deleted = viewWebhook(webhook);
      await parts.client.deleteWebhook(webhook.id, { reason: auditReason(parts, { actor, tool }, reason) });
      return deleted;
    },
  };
}
