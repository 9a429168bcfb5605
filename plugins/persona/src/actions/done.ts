import { z } from '@cinnabar/sdk';
import { defineAction } from './action.js';

export const done = defineAction({
  name: 'DONE',
  description: 'Complete the sequence; nothing after it is carried out',
  contextNeeded: 'Why nothing more is needed',
  result: z.object({}),
  telling: 'end',
  execute: () => 'done',
});
