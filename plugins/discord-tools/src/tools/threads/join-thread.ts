import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { threadChannel } from '../../reaching/channels.js';
import { threadField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { channelInSentence, nameText } from '../../reading/names.js';
import { type ThreadView, viewThread } from '../../reading/thread.js';

const input = z.object({ threadId: threadField });

export function joinThread(parts: Parts): ToolDefinition<typeof input, ThreadView> {
  return {
    name: 'discord_join_thread',
    description: 'Make the bot a member of a thread, so that it hears what is said there.',
    input,
    risk: 'write',
    idempotent: true,
    access: { member: ['ViewChannel'], bot: ['ViewChannel'] },
    place: ({ threadId }) => channelPlace(parts.client, threadId),
    examples: ['join the thread {threadId}'],
    present: {
      sentence: ({ threadId }) => `I'll join the thread ${channelInSentence(parts.client, threadId)}`,
      action: 'Join thread',
      success: (_, { id, name }) => `✓ Joined the thread ${nameText(name)} (${id}).`,
      cancelled: () => 'Cancelled joining the thread.',
    },
    async run({ threadId }) {
      const thread = await threadChannel(parts.client, threadId);
      await thread.join();
      return viewThread(thread);
    },
  };
}
