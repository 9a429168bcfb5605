import { z } from '@cinnabar/sdk';
import { defineAction } from './action.js';
import { tidyText } from './text.js';

export const think = defineAction({
  name: 'THINK',
  description: 'Process emotional reactions and analyze the situation',
  contextNeeded:
    'Specific aspects to focus thinking on: emotional elements, relationship dynamics, or particular details requiring analysis',
  result: z.object({ thought: tidyText(4_000).describe('The thought itself, in the first person; nobody hears it') }),
  telling: 'thought',
  execute: ({ thought }) => thought,
});
