import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { threadChannel } from '../../reaching/channels.js';
import { reasonField, threadField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { channelInSentence, nameText } from '../../reading/names.js';
import { type ThreadView, viewThread } from '../../reading/thread.js';

const input = z.object({ threadId: threadField, reason: reasonField });
const MANAGING_THREADS = ['ViewChannel', 'ManageThreads'] as const;

export function deleteThread(parts: Parts): ToolDefinition<typeof input, ThreadView> {
  const tool = 'discord_delete_thread';
  return {
    name: tool,
    description: 'Delete a thread with everything in it. This cannot be undone.',
    input,
    risk: 'destructive',
    idempotent: true,
    access: { member: MANAGING_THREADS, bot: MANAGING_THREADS },
    place: ({ threadId }) => channelPlace(parts.client, threadId),
    examples: ['delete the thread {threadId}'],
    present: {
      sentence: ({ threadId }) =>
        `I'll delete the thread ${channelInSentence(parts.client, threadId)} with everything in it`,
      action: 'Delete thread',
      success: (_, { id, name }) => `✓ Deleted the thread ${nameText(name)} (${id}).`,
      cancelled: () => 'Cancelled deleting the thread.',
    },
    async run({ threadId, reason }, { actor }) {
      const thread = await threadChannel(parts.client, threadId);
      const deleted = viewThread(thread);
      await thread.delete(auditReason(parts, { actor, tool }, reason));
      return deleted;
    },
  };
}
