import { z } from '@cinnabar/sdk';

export const settings = {
  guild: z.object({
    history: z
      .number()
      .int()
      .min(1)
      .max(200)
      .default(50)
      .describe('How many of the last messages of the channel the model reads'),
    maxToolDepth: z
      .number()
      .int()
      .min(0)
      .max(50)
      .default(8)
      .describe('How many rounds of tool calls one answer may take; 0 offers no tools'),
    instructions: z
      .string()
      .max(4000)
      .optional()
      .describe('Added to what the model is told about itself: tone, rules of the server, language'),
  }),
};

export type ChatSettings = z.output<typeof settings.guild>;
