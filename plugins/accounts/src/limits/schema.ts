import { z } from '@cinnabar/sdk';

export const HOLDERS = ['guild', 'channel', 'member'] as const;
export const LIMITS = { tokensPerDay: z.int().min(0), usdPerDay: z.number().min(0) } as const;

const of = (whose: string) =>
  z
    .strictObject({
      tokensPerDay: LIMITS.tokensPerDay.optional().describe(`Tokens that ${whose} may use in a day (UTC); 0: none`),
      usdPerDay: LIMITS.usdPerDay.optional().describe(`US dollars that ${whose} may use in a day (UTC); 0: none`),
    })
    .prefault({});

/** The plugin's part of the configuration files. */
export const budgetsConfiguration = z.object({
  budgets: z
    .strictObject({ guild: of('a server'), channel: of('a channel'), member: of('a member of a server') })
    .prefault({})
    .describe('What may be used in a day, by all minds together; without a limit when left out'),
});
