import { isTimeZone, QUIET_HOURS, type Settings, z } from '@cinnabar/sdk';

const whole = (min: number, max: number) => z.number().int().min(min).max(max);
const whenSilent = z.enum(['silent', 'post']);
const address = z.string().refine(isAddress, 'expected an address such as https://letta.example.org');

export const settings = {
  global: z.object({
    baseUrl: address
      .optional()
      .describe("Address of the Letta server; without it LETTA_BASE_URL, and without that Letta's cloud"),
    mcpUrl: address
      .optional()
      .describe("Address under which the Letta server reaches the bot's tools over MCP; by default where they listen"),
    dm_agent_timeout: whole(1, 3600).default(60).describe('Seconds that an agent may work on a direct message'),
    dm_whenSilent: whenSilent
      .default('silent')
      .describe('How to treat the text of an agent that has ended without posting anything, in direct messages'),
    dm_enable_typing_indicator: z
      .boolean()
      .default(true)
      .describe('Show typing in direct messages while the agent works'),
    dm_reply_thread_depth: whole(0, 50)
      .default(5)
      .describe('How many messages of a reply chain the agent is shown in direct messages'),
    dm_rate_limit_seconds: whole(0, 3600).default(2).describe('Least seconds between two prompts of a direct message'),
    dm_max_queue_size: whole(1, 10_000).default(50).describe('How many direct messages of one person may wait'),
    dm_mcp_guidance_enabled: z
      .boolean()
      .default(true)
      .describe('Tell the agent in each prompt of a direct message which tools it has'),
    dmAgent: z.string().optional().describe('Id of the agent that answers direct messages; `relay dm agent` sets it'),
  }),
  guild: z.object({
    reply_thread_depth: whole(0, 50).default(5).describe('How many messages of a reply chain the agent is shown'),
    enable_typing_indicator: z.boolean().default(true).describe('Show typing while the agent works'),
    enable_dm_responses: z
      .boolean()
      .default(true)
      .describe(
        'Whether members of this server get answers to direct messages; another server of theirs can allow it, too',
      ),
    max_queue_size: whole(1, 10_000).default(50).describe('How many messages of this server may wait for the agent'),
    agent_timeout: whole(1, 3600).default(60).describe('Seconds that the agent may work on a message'),
    mcp_guidance_enabled: z.boolean().default(true).describe('Tell the agent in each prompt which tools it has'),
    rate_limit_seconds: whole(0, 3600).default(2).describe('Least seconds between two messages of a channel'),
    whenFull: z
      .enum(['refuse-newest', 'drop-oldest'])
      .default('refuse-newest')
      .describe('Which message is dropped when max_queue_size are waiting'),
    whenSilent: whenSilent
      .default('silent')
      .describe('How to treat the text of an agent that has ended without posting anything'),
    quietHours: z
      .string()
      .refine((hours) => QUIET_HOURS.test(hours), 'expected hours such as 22:00-07:00')
      .default('')
      .describe('When only what is said to the agent reaches it: 22:00-07:00'),
    timeZone: z
      .string()
      .refine(isTimeZone, 'expected a time zone such as Europe/Berlin')
      .meta({ format: 'time-zone' })
      .default('UTC')
      .describe('Time zone of quiet hours, wake-ups and days'),
    dayTurns: whole(0, 1_000_000)
      .default(0)
      .describe('How often the agents may be told something in a day; 0 for no limit')
      .meta({ noLimit: 0 }),
    dayTokens: whole(0, 1_000_000_000)
      .default(0)
      .describe('How many tokens the agents may use in a day; 0 for no limit')
      .meta({ noLimit: 0 }),
    wakesPerDay: whole(0, 1000).default(4).describe('How many planned wake-ups there may be in a day'),
    digestMinutes: whole(1, 10_080).default(60).describe('How long a digest gathers, where the mode is digest'),
    digestMessages: whole(1, 1000).default(50).describe('After how many messages a digest is sent at once'),
    reactionEvents: z.boolean().default(true).describe('Tell agents of reactions to their messages'),
    reactionSeconds: whole(0, 3600).default(20).describe('How long reactions are gathered before the agent is told'),
    ownName: z
      .enum(['auto', 'on', 'off'])
      .default('auto')
      .describe(
        'Whether agents post under their own name and picture, through a webhook: auto where several live here. The bot needs Manage Webhooks for it',
      ),
    answerToName: z.boolean().default(false).describe("Whether an agent's name in a message counts as a mention"),
  }),
  user: z.object({
    dm: z
      .enum(['ask', 'on', 'off'])
      .default('ask')
      .describe('Whether direct messages go to the agent; `relay dm` sets it'),
    own_agent_timeout: whole(1, 3600)
      .optional()
      .describe('Seconds that an agent may work on one of your direct messages; the owner of the bot sets the most'),
    own_whenSilent: whenSilent
      .optional()
      .describe('How to treat the text of an agent that has ended without posting anything, in your direct messages'),
    own_enable_typing_indicator: z
      .boolean()
      .optional()
      .describe('Show typing while the agent works, in your direct messages'),
    own_reply_thread_depth: whole(0, 50)
      .optional()
      .describe(
        'How many messages of a reply chain the agent is shown in your direct messages; the owner of the bot sets the most',
      ),
  }),
};

type RelaySettings = Settings<typeof settings>;
export type GuildRules = z.output<typeof settings.guild>;

/** The settings of a guild; in direct messages those of the bot's owner, limited further by the person's own. */
export async function rulesIn(
  all: Pick<RelaySettings, 'guild' | 'global' | 'user'>,
  guildId: string | null,
  userId: string | null = null,
): Promise<GuildRules> {
  const rules = await all.guild(guildId).get();
  if (guildId !== null) return rules;
  const owners = await all.global.get();
  const own = userId === null ? undefined : await all.user(userId).get();
  return {
    ...rules,
    // A person can only lower the owner's limits.
    agent_timeout: Math.min(own?.own_agent_timeout ?? Number.POSITIVE_INFINITY, owners.dm_agent_timeout),
    reply_thread_depth: Math.min(own?.own_reply_thread_depth ?? Number.POSITIVE_INFINITY, owners.dm_reply_thread_depth),
    whenSilent: own?.own_whenSilent ?? owners.dm_whenSilent,
    enable_typing_indicator: own?.own_enable_typing_indicator ?? owners.dm_enable_typing_indicator,
    rate_limit_seconds: owners.dm_rate_limit_seconds,
    max_queue_size: owners.dm_max_queue_size,
    mcp_guidance_enabled: owners.dm_mcp_guidance_enabled,
  };
}

function isAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
