import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { threadChannel } from '../../reaching/channels.js';
import { reasonField, threadField } from '../../reaching/fields.js';
import { demand } from '../../reaching/may.js';
import { channelPlace, placeOf } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { requireThreadRights } from '../../reaching/threads-in.js';
import { channelInSentence } from '../../reading/names.js';
import { type ThreadView, threadText, viewThread } from '../../reading/thread.js';

const input = z.object({
  threadId: threadField,
  archived: z.boolean().default(true).describe('false opens it again'),
  locked: z.boolean().optional().describe('Whether only moderators may write in it, or open it again'),
  reason: reasonField,
});

export function archiveThread(parts: Parts): ToolDefinition<typeof input, ThreadView> {
  const tool = 'discord_archive_thread';
  return {
    name: tool,
    description: 'Archive a thread, or open it again; lock or unlock it.',
    input,
    risk: 'write',
    idempotent: true,
    access: { member: ['ViewChannel'], bot: ['ViewChannel'] },
    place: ({ threadId }) => channelPlace(parts.client, threadId),
    examples: ['archive the thread {threadId}', 'close the thread {threadId}'],
    present: {
      sentence: ({ threadId, archived }) =>
        `I'll ${archived ? 'archive' : 'open'} the thread ${channelInSentence(parts.client, threadId)}`,
      action: 'Archive thread',
      success: (_, thread) => `✓ ${threadText(thread)}.`,
      cancelled: () => 'Cancelled: the thread stays as it is.',
    },
    async run({ threadId, archived, locked, reason }, { actor }) {
      const caller = { actor, tool };
      const thread = await threadChannel(parts.client, threadId);
      await requireThreadRights(parts, caller, thread);
      if (locked !== undefined) await demand(parts, caller, placeOf(thread), 'ManageThreads');
      const change = {
        archived,
        ...(locked === undefined ? {} : { locked }),
        reason: auditReason(parts, caller, reason),
      };
      return viewThread(await thread.edit(change));
    },
  };
}
