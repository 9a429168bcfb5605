import { z } from '@cinnabar/sdk';
import type { Memories } from '../memory/types.js';
import { defineAction } from './action.js';
import { tidyText } from './text.js';

export const reflect = (memories: Memories) =>
  defineAction({
    name: 'REFLECT',
    description: 'Draw conclusions from what I remember, and keep them',
    contextNeeded: 'Which of the memories to reflect on belong together, and what they may mean',
    result: z.object({
      insights: z
        .array(
          z.object({
            text: tidyText(500).describe('The insight, in one sentence that is clear on its own'),
            evidence: z.array(z.string()).max(50).describe('Ids of the memories that it rests on'),
            importance: z.number().min(1).max(10).default(6),
          }),
        )
        .max(5)
        .describe('At most five; none when nothing follows'),
    }),
    isOffered: ({ reflection }) => reflection !== undefined,
    async execute({ insights }, { memoryPlace, noteMemory }) {
      const kept = await memories.reflect(memoryPlace, insights);
      for (const memory of kept) noteMemory(memory);
      return kept.length === 0 ? 'nothing follows' : kept.map(({ text }) => text).join(' · ');
    },
  });
