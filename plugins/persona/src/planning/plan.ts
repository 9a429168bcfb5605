import { z } from '@cinnabar/sdk';

const step = z.object({
  action: z.string().describe('Name of an action or chain'),
  context: z.string().default('').describe('What it should focus on here'),
  result: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('The result already, in the form that the action states; null where it depends on what comes before'),
});
/** An action that is planned. */
export type Step = z.output<typeof step>;

/** What a planner answers. Names and results are looked at later: one that is wrong must not spoil the others. */
export const planSchema = z.object({
  reasoning: z.string().default('').describe('Why this sequence, in a sentence or two'),
  actions: z.array(step).describe('In the order in which to carry them out; empty to do nothing'),
  can_extend: z.boolean().default(false).describe('Whether I may want to add actions when I see what comes of these'),
});
export type Plan = z.output<typeof planSchema>;
