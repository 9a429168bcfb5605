import { z } from '@cinnabar/sdk';
import { defineAction } from './action.js';
import { tidyText } from './text.js';

export const speak = defineAction({
  name: 'SPEAK',
  description: 'Say something in the channel; never needed when silence says enough',
  contextNeeded: 'What I want to get across, to whom, and in which tone',
  result: z.object({
    message: tidyText(6_000).describe(
      'My words as everybody reads them: usually one to three sentences, no name in front',
    ),
  }),
  telling: 'speech',
  words: ({ message }) => message,
  async execute({ message }, { say }) {
    await say(message);
    return message;
  },
});
