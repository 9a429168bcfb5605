import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { channelOf } from '../../reaching/channels.js';
import { channelField } from '../../reaching/fields.js';
import { READING } from '../../reaching/may.js';
import { channelPlace } from '../../reaching/places.js';
import { threadsIn } from '../../reaching/threads-in.js';
import { channelInSentence, channelText } from '../../reading/names.js';
import { channelSource } from '../../reading/sources.js';
import { type ThreadView, threadText, viewThread } from '../../reading/thread.js';

const input = z.object({
  channelId: channelField,
  includeArchived: z.boolean().default(false).describe('Archived ones, too'),
  limit: z.number().int().min(1).max(100).default(50).describe('How many, at most 100'),
});

interface Threads {
  readonly channel: string;
  /** The newest first. */
  readonly threads: readonly ThreadView[];
}

export function listThreads(parts: Parts): ToolDefinition<typeof input, Threads> {
  const tool = 'discord_list_threads';
  return {
    name: tool,
    description: 'List the threads of a channel, the newest first.',
    input,
    risk: 'read',
    access: { member: READING, bot: READING },
    place: ({ channelId }) => channelPlace(parts.client, channelId),
    sources: ({ threads }) => threads.map(({ id }) => channelSource(parts.client, id)),
    examples: ['which threads are there in {channelId}?', 'list the threads in {channelId}'],
    present: {
      sentence: ({ channelId }) => `I'll list the threads in ${channelInSentence(parts.client, channelId)}`,
      action: 'List threads',
      success: (_, { channel, threads }) =>
        threads.length === 0 ? `No threads in ${channel}.` : threads.map(threadText).join('\n'),
    },
    async run({ channelId, includeArchived, limit }, { actor }) {
      const channel = await channelOf(parts.client, channelId);
      const threads = await threadsIn(parts, { actor, tool }, channel, { archived: includeArchived, limit });
      return { channel: channelText(channel), threads: threads.map(viewThread) };
    },
  };
}
