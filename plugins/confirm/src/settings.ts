import { z } from '@cinnabar/sdk';

const rules = z.object({
  style: z.enum(['plain', 'cyberpunk', 'terminal']).default('plain').describe('How confirmation cards look'),
  timeLimit: z
    .number()
    .int()
    .min(10)
    .max(3600)
    .default(60)
    .describe('Seconds that a member has to decide, from the moment the card is there'),
  require: z
    .array(z.enum(['read', 'write', 'destructive']))
    .default(['read', 'write', 'destructive'])
    .describe('Which tools need a confirmation, by what they do; a policy of one tool goes before'),
  readsInTasks: z
    .boolean()
    .default(true)
    .describe('Whether a task may use tools that only read without a confirmation, with the rights of its member'),
  controls: z
    .enum(['reactions', 'buttons', 'both'])
    .default('reactions')
    .describe('What a member decides with; buttons always help out where the bot may not add reactions'),
  maxOpen: z
    .number()
    .int()
    .min(1)
    .max(100)
    .default(20)
    .describe('How many requests of one member may wait for a decision at the same time, in all servers together'),
  sessionApprovals: z
    .enum(['never', 'like-this', 'by-risk', 'always'])
    .default('by-risk')
    .describe(
      'What may be allowed for the rest of a task: nothing; calls like one that was shown; also any call of a tool that is not destructive; the same even where the policy of a tool is confirm',
    ),
});

export const settings = { guild: rules };

/** How calls are confirmed in a guild; in a direct message the defaults apply. */
export type Rules = z.output<typeof rules>;
export type Style = Rules['style'];
