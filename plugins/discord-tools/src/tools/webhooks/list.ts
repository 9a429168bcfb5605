import type { ToolDefinition } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { createWebhook } from './create-webhook.js';
import { deleteWebhook } from './delete-webhook.js';
import { editWebhook } from './edit-webhook.js';
import { listWebhooks } from './list-webhooks.js';
import { sendWebhookMessage } from './send-webhook-message.js';

export const webhookTools = (parts: Parts): readonly ToolDefinition[] => [
  createWebhook(parts),
  listWebhooks(parts),
  sendWebhookMessage(parts),
  editWebhook(parts),
  deleteWebhook(parts),
];
