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
  /** Which of several answers is given. */
  order: z.enum(['random', 'turn']).default('random'),
  cooldownSeconds: z.number().int().min(0).default(0),
  /** Empty when they asked to be forgotten. */
  authorId: z.string(),
  /** Whether it was made by a member who is no moderator: then its words are theirs. */
  isByMember: z.boolean().default(false),
  madeAt: z.number(),
});
export type CustomCommand = z.output<typeof customCommand>;

const alias = z.object({
  name: z.string(),
  /** What it stands for, without a prefix. */
  text: z.string(),
  authorId: z.string(),
  isByMember: z.boolean().default(false),
  /** The tier that its author had: an alias gives its users no more rights than that. */
  tier: z.enum(TIERS).default('mod'),
  madeAt: z.number(),
});
export type Alias = z.output<typeof alias>;

export interface Authored {
  authorId: string;
  isByMember: boolean;
}

/** A moderator's belongs to the server and stays without the name; a member's own words go. */
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

/** Who may create commands and aliases: as the setting says. */
export const creating = (settings: CustomContext['settings']): AccessPolicy => ({
  where: 'guild',
  tierFrom: async ({ guildId }) => (await settings.guild(guildId).get()).creators,
});

export type CustomContext = PluginContext<typeof settings, typeof collections, typeof inject>;
