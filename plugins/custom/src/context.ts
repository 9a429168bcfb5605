import { Access, type AccessPolicy, Clock, Commands, type PluginContext, Random, TIERS, z } from '@cinnabar/sdk';

export const LIMITS = { answers: 10, text: 2_000, alias: 500, seconds: 86_400, ofMember: 20 } as const;

export const settings = {
  guild: z.object({
    creators: z
      .enum(['everyone', 'mod', 'admin'])
      .default('mod')
      .describe('Who may create custom commands and aliases; everyone changes only their own'),
    mostCommands: z
      .number()
      .int()
      .min(1)
      .max(500)
      .default(200)
      .describe('Custom commands, and as many aliases, that this server may have'),
  }),
};

const customCommand = z.object({
  name: z.string(),
  answers: z.array(z.string()),
  /** How one of several answers is chosen. */
  order: z.enum(['random', 'turn']).default('random'),
  cooldownSeconds: z.number().int().min(0).default(0),
  /** Empty after the author's data was deleted. */
  authorId: z.string(),
  /** Whether the author was not a moderator: then the text is the author's personal data. */
  isByMember: z.boolean().default(false),
  madeAt: z.number(),
});
export type CustomCommand = z.output<typeof customCommand>;

const alias = z.object({
  name: z.string(),
  /** The command line that the alias expands to, without a prefix. */
  text: z.string(),
  authorId: z.string(),
  isByMember: z.boolean().default(false),
  /** The author's tier at that time, which is the highest tier that users of the alias get. */
  tier: z.enum(TIERS).default('mod'),
  madeAt: z.number(),
});
export type Alias = z.output<typeof alias>;

export interface Authored {
  authorId: string;
  isByMember: boolean;
}

/** Removes the author. A moderator's command stays, because it belongs to the server; a member's own text is deleted. */
function withoutAuthor(part: Authored & { answers?: string[]; text?: string }): void {
  part.authorId = '';
  if (!part.isByMember) return;
  if (part.answers !== undefined) part.answers = [];
  if (part.text !== undefined) part.text = '';
}

export const collections = {
  commands: {
    scope: 'guild',
    version: 1,
    schema: z.object({ made: z.array(customCommand).default([]) }),
    personal: { each: 'made', by: 'authorId', forget: withoutAuthor },
  },
  aliases: {
    scope: 'guild',
    version: 1,
    schema: z.object({ made: z.array(alias).default([]) }),
    personal: { each: 'made', by: 'authorId', forget: withoutAuthor },
  },
} as const;

export const inject = { access: Access, clock: Clock, commands: Commands, random: Random } as const;

/** The access policy for creating commands and aliases, according to the setting. */
export const creating = (settings: CustomContext['settings']): AccessPolicy => ({
  where: 'guild',
  tierFrom: async ({ guildId }) => (await settings.guild(guildId).get()).creators,
});

export type CustomContext = PluginContext<typeof settings, typeof collections, typeof inject>;
