import { type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { channelOf } from '../../reaching/channels.js';
import { channelField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { channelInSentence, nameText } from '../../reading/names.js';
import { MANAGING_WEBHOOKS, viewWebhook, type WebhookView } from './webhook.js';

const input = z.object({ channelId: channelField });

interface Webhooks {
  readonly webhooks: readonly WebhookView[];
}

export function listWebhooks(parts: Parts): ToolDefinition<typeof input, Webhooks> {
  return {
    name: 'discord_list_webhooks',
    description: 'List the webhooks of a channel with their ids.',
    input,
    risk: 'read',
    access: { member: MANAGING_WEBHOOKS, bot: MANAGING_WEBHOOKS },
    place: ({ channelId }) => channelPlace(parts.client, channelId),
    examples: ['which webhooks are there in {channelId}?'],
    present: {
      sentence: ({ channelId }) => `I'll list the webhooks in ${channelInSentence(parts.client, channelId)}`,
      action: 'List webhooks',
      success: (_, { webhooks }) =>
        webhooks.length === 0
          ? 'There are no webhooks.'
          : webhooks.map(({ id, name }) => `${nameText(name)} (webhook ${id})`).join('\n'),
    },
    async run({ channelId }) {
      const channel = await channelOf(parts.client, channelId);
      if (!('fetchWebhooks' in channel)) throw new UserError('There are no webhooks in a channel of this kind.');
      return { webhooks: (await channel.fetchWebhooks()).map(viewWebhook) };
    },
  };
}
