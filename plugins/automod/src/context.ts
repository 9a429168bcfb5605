import {
  Access,
  Clock,
  Languages,
  Moderation,
  option,
  optional,
  type PluginContext,
  Provenance,
  TierRoles,
  z,
} from '@cinnabar/sdk';

export const ID = 'automod';

export const FILTERS = ['words', 'invites', 'links', 'mentions', 'spam', 'capitals'] as const;
export type Filter = (typeof FILTERS)[number];
export const ACTIONS = ['delete', 'warn', 'timeout', 'report'] as const;
export type Action = (typeof ACTIONS)[number];

export const LIMITS = { words: 500, wordLength: 60, domains: 200, exempt: 50 } as const;

const actions = (fallback: Action[]) => z.array(z.enum(ACTIONS)).min(1).max(ACTIONS.length).default(fallback);
const word = z
  .string()
  .trim()
  .min(2)
  .max(LIMITS.wordLength)
  .refine((text) => text.replace(/[*\s]/g, '').length >= 2, 'a word needs two characters beside *');
const domain = z
  .string()
  .max(253)
  .regex(/^(?:\*\.)?(?:[\p{L}\p{N}-]+\.)+[\p{L}\p{N}-]{2,}$/u, 'a domain is written as example.org or *.example.org')
  .transform((text) => text.toLowerCase());

/** The settings. Every filter is off by default. */
export const settings = {
  guild: z.object({
    words: z
      .array(word)
      .max(LIMITS.words)
      .default([])
      .describe('Words and phrases that are not allowed; * stands for any letters: bad*, *bad*'),
    wordsActions: actions(['delete', 'report']).describe('Actions for messages with one of these words'),
    invites: z.boolean().default(false).describe('Whether invites to other servers are not allowed'),
    allowedInvites: z
      .array(z.string().regex(/^[\w-]{2,40}$/, 'give the id of a server, or the code of an invite'))
      .max(LIMITS.exempt)
      .default([])
      .describe('Ids of servers, and codes of invites, that are allowed beside those to this server'),
    invitesActions: actions(['delete', 'report']).describe('Actions for messages with an invite'),
    links: z
      .enum(['off', 'deny', 'allow'])
      .default('off')
      .describe('deny: links to the domains are not allowed; allow: only links to them are'),
    domains: z
      .array(domain)
      .max(LIMITS.domains)
      .default([])
      .describe('The domains of the filter of links; example.org stands for its subdomains as well'),
    linksActions: actions(['delete', 'report']).describe('Actions for messages with a link'),
    mentions: z
      .int()
      .min(0)
      .max(50)
      .default(0)
      .describe('Most members and roles that one message may mention; 0: any number')
      .meta({ noLimit: 0 }),
    mentionsActions: actions(['delete', 'report']).describe('Actions for messages with too many mentions'),
    repeats: z
      .int()
      .min(0)
      .max(20)
      .default(0)
      .describe('How often a member may say the same within 30 s; 0: any number')
      .meta({ noLimit: 0 }),
    rate: z
      .int()
      .min(0)
      .max(60)
      .default(0)
      .describe('How many messages a member may write within 10 s; 0: any number')
      .meta({ noLimit: 0 }),
    spamActions: actions(['delete', 'timeout', 'report']).describe(
      'Actions for repeated messages, and messages that are written too fast',
    ),
    capitals: z
      .int()
      .min(0)
      .max(100)
      .default(0)
      .describe('Most capital letters in a message of at least 12 letters, in per cent; 0: any number')
      .meta({ noLimit: 0 }),
    capitalsActions: actions(['delete']).describe('Actions for messages with too many capital letters'),
    names: z.boolean().default(false).describe('Whether the words also apply to nicknames and names of threads'),
    timeout: option
      .duration()
      .max(28 * 86_400_000)
      .default(600_000)
      .describe('How long a member is timed out'),
    reportChannel: z.string().meta({ kind: 'channel' }).optional().describe('Channel for reports, for moderators'),
    exemptRoles: z
      .array(z.string().meta({ kind: 'role' }))
      .max(20)
      .default([])
      .describe('Roles whose members are exempt from the filters; moderators and admins always are'),
    exemptChannels: z
      .array(z.string().meta({ kind: 'channel' }))
      .max(LIMITS.exempt)
      .default([])
      .describe('Channels, categories and threads without filters'),
    discordRules: z
      .boolean()
      .default(true)
      .describe(
        'Whether words, invites and mentions are rules of the AutoMod of Discord as well, which stops messages before anyone sees them',
      ),
  }),
};
export type Values = z.output<typeof settings.guild>;

export const collections = {
  /** The rules of Discord's AutoMod that this plugin has created, with their content when last written. */
  rules: {
    scope: 'guild',
    version: 1,
    schema: z.object({
      rules: z
        .array(z.object({ filter: z.enum(['words', 'invites', 'mentions']), id: z.string(), written: z.string() }))
        .default([]),
    }),
    personal: 'none',
  },
} as const;

export const inject = {
  access: Access,
  clock: Clock,
  languages: Languages,
  tierRoles: TierRoles,
  moderation: optional(Moderation),
  provenance: Provenance,
};

export type AutomodContext = PluginContext<typeof settings, typeof collections, typeof inject>;
