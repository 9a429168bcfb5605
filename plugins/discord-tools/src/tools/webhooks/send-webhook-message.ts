import { type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import { readHttpsUrl } from '../../images/fetch-image.js';
import type { Parts } from '../../parts.js';
import { channelOf } from '../../reaching/channels.js';
import { textField, webhookField } from '../../reaching/fields.js';
import { webhookPlace } from '../../reaching/places.js';
import { requireUnlocked } from '../../reaching/threads-in.js';
import { mannerOf } from '../../sending/manner.js';
import { idsText, type Posted, sendInTurn } from '../../sending/post.js';
import { messagesFor } from '../../sending/spoken-for.js';
import { MANAGING_WEBHOOKS, tokenField, webhookOf } from './webhook.js';

const input = z.object({
  webhookId: webhookField,
  webhookToken: tokenField,
  content: textField,
  username: z.string().trim().min(1).max(80).optional().describe('Another name for this once'),
  avatarURL: z.string().max(2000).optional().describe('Another picture for this once: an https:// address'),
  threadId: z.string().max(200).optional().describe("A thread of the webhook's channel: its id"),
});

export function sendWebhookMessage(parts: Parts): ToolDefinition<typeof input, Posted> {
  const tool = 'discord_send_webhook_message';
  return {
    name: tool,
    description: 'Send a message through a webhook, under its name or another. Returns the id of each message sent.',
    input,
    risk: 'write',
    access: { member: MANAGING_WEBHOOKS, bot: MANAGING_WEBHOOKS },
    place: ({ webhookId, threadId }) => webhookPlace(parts.client, webhookId, threadId),
    examples: ['send {content} through the webhook {webhookId}'],
    present: {
      sentence: () => "I'll send a message through a webhook",
      action: 'Send webhook message',
      success: (_, posted) => `✓ Sent in <#${posted.channelId}>: ${idsText(posted)}.`,
      cancelled: () => 'Cancelled the message.',
    },
    async run({ webhookId, webhookToken, content, username, avatarURL, threadId }, { actor, signal }) {
      const caller = { actor, tool };
      const webhook = await webhookOf(parts.client, webhookId, webhookToken);
      if (webhook.token === null)
        throw new UserError(
          'Discord does not let me speak through this webhook: another application has made it, or another server.',
        );
      const channel = await channelOf(parts.client, threadId ?? webhook.channelId);
      const avatar = avatarURL === undefined ? undefined : readHttpsUrl(avatarURL).href;
      await requireUnlocked(parts, caller, channel);
      const manner = await mannerOf(parts, caller, channel, content);
      const contents = await messagesFor(parts, caller, channel.isDMBased() ? null : channel.guildId, content);
      const messageIds: string[] = [];
      await sendInTurn(contents, signal, messageIds, (part) =>
        webhook.send({
          content: part,
          ...manner,
          ...(username === undefined ? {} : { username }),
          ...(avatar === undefined ? {} : { avatarURL: avatar }),
          ...(threadId === undefined ? {} : { threadId: channel.id }),
        }),
      );
      return { channelId: channel.id, messageIds };
    },
  };
}
