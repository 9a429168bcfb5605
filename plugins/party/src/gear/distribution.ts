import { z } from '@cinnabar/sdk';

/** What the model is asked for. Every field is required: strict structured output of some providers knows no optional ones. */
export const distributionSchema = z.object({
  items: z
    .array(
      z.object({
        id: z.number().describe('1, 2, 3 …'),
        name: z.string().describe('What it is, singular: SMG'),
        from: z.string().describe('The words of the description that it comes from, copied exactly: 2 SMGs'),
        number: z
          .string()
          .describe(
            'Its words or digits that say how many of it there are in all, copied exactly: "900", "a dozen"; empty for one',
          ),
        amount: z
          .number()
          .describe('How many of them this entry stands for: 1 for a single thing, 300 for 300 of 900 eddies'),
      }),
    )
    .describe(
      'Everything to hand out. Single things: one entry each, so "2 SMGs" are two entries of amount 1. What can be split, such as money or ammunition: one entry for each share',
    ),
  not_loot: z.array(z.string()).describe('Parts of the description that are no loot, copied exactly'),
  assignments: z
    .array(
      z.object({
        item_id: z.number(),
        character: z.string().describe('A name from the list of characters'),
        reason: z.string().describe('One short sentence'),
      }),
    )
    .describe('Who gets what: exactly one entry for each item'),
});
export type Distribution = z.output<typeof distributionSchema>;
