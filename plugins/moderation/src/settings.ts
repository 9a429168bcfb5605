import {
  Access,
  Clock,
  Languages,
  type ModerationAct,
  moderationCase,
  option,
  type PluginContext,
  parseDuration,
  Random,
  TierRoles,
  z,
} from '@cinnabar/sdk';
import type { PermissionsString } from 'discord.js';

export const PLUGIN = 'moderation';

const DAY_MS = 86_400_000;
/** Discord's maximum length of a time-out. */
export const LONGEST_TIMEOUT_MS = 28 * DAY_MS;
export const LONGEST_TEMPBAN_MS = 5 * 365 * DAY_MS;
/** Maximum length of a stored reason. A message shows all of it, unless it contains much markup. */
export const LONGEST_REASON = 1_000;
/** Maximum number of messages that one command deletes. */
export const MOST_PURGED = 1_000;

/** The permissions that a moderator, and the bot, need for an action. */
export const NEEDED: Readonly<Record<ModerationAct, PermissionsString>> = {
  warn: 'ModerateMembers',
  timeout: 'ModerateMembers',
  untimeout: 'ModerateMembers',
  kick: 'KickMembers',
  ban: 'BanMembers',
  tempban: 'BanMembers',
  softban: 'BanMembers',
  unban: 'BanMembers',
};

const THRESHOLD = /^(\d{1,4}) (?:(timeout|tempban) (\S+)|(kick|ban))$/;

/** The action when a member's warnings reach this many points. */
export interface Threshold {
  readonly points: number;
  readonly act: ModerationAct;
  readonly durationMs: number | undefined;
}

/** Parses `5 timeout 1h` or `10 ban`; `undefined` for anything else. */
export function parseThreshold(text: string): Threshold | undefined {
  const [, points, timed, duration = '', other] = THRESHOLD.exec(text.trim()) ?? [];
  if (points === undefined || Number(points) === 0) return undefined;
  if (other === 'kick' || other === 'ban') return { points: Number(points), act: other, durationMs: undefined };
  const durationMs = parseDuration(duration);
  if (durationMs === undefined || durationMs < 1_000) return undefined;
  const act = timed === 'tempban' ? 'tempban' : 'timeout';
  if (durationMs > (act === 'timeout' ? LONGEST_TIMEOUT_MS : LONGEST_TEMPBAN_MS)) return undefined;
  return { points: Number(points), act, durationMs };
}

export const settings = {
  global: z.object({
    casesPerServer: z
      .int()
      .min(500)
      .max(1_000_000)
      .default(20_000)
      .describe('How many cases are kept of a server; beyond it the oldest are deleted'),
  }),
  guild: z.object({
    modlog: z.string().optional().describe('The channel in which cases are posted').meta({ kind: 'channel' }),
    tellMembers: z
      .boolean()
      .default(true)
      .describe('Whether members get a direct message about what was done to them, and why'),
    requireReason: z.boolean().default(false).describe('Whether moderators must give a reason'),
    banDeleteDays: z
      .int()
      .min(0)
      .max(7)
      .default(0)
      .describe('The messages of how many days a ban deletes unless it says otherwise'),
    warnPoints: z.int().min(1).max(100).default(1).describe('How many points a warning has unless it says otherwise'),
    warnActions: z
      .array(
        z
          .string()
          .max(60)
          .refine((text) => parseThreshold(text) !== undefined, 'write it as "3 timeout 1h", "5 kick" or "10 ban"'),
      )
      .max(10)
      .default([])
      .describe('What happens at how many points: 3 timeout 1h, 5 kick, 7 tempban 7d, 10 ban'),
    warnExpiry: option
      .duration()
      .max(10 * 365 * DAY_MS)
      .default(0)
      .describe('How long the points of a warning count; 0 for ever'),
    recordDiscordActs: z
      .boolean()
      .default(true)
      .describe("Whether what moderators do in Discord's own windows becomes a case, too"),
    purgeAskAbove: z.int().min(0).max(MOST_PURGED).default(100).describe('Purging more messages than this asks first'),
    keepCasesOnForget: z
      .boolean()
      .default(true)
      .describe('Whether cases stay, without their words, when a member has their data deleted'),
  }),
};
export type GuildSettings = z.output<typeof settings.guild>;

/** Bits of permissions, as Discord writes them. */
const bits = z.string().regex(/^\d{1,30}$/);

export const collections = {
  /** The cases of a guild, several in a document: `<guild>-<index>`. */
  blocks: {
    scope: 'global',
    version: 1,
    schema: z.object({ guildId: z.string(), cases: z.array(moderationCase) }),
    personal: 'handled',
  },
  /** The number of a guild's last case, and the numbers of its open cases: to be carried out, posted, or lifted. */
  ledgers: {
    scope: 'guild',
    version: 1,
    schema: z.object({ last: z.int().default(0), open: z.array(z.int()).default([]) }),
  },
  /** The previous state of what a lock has changed in a channel. */
  locks: {
    scope: 'channel',
    version: 1,
    schema: z.object({
      guildId: z.string(),
      at: z.number(),
      byUserId: z.string().exactOptional(),
      mask: bits,
      overwrites: z.array(z.object({ id: z.string(), type: z.int(), existed: z.boolean(), allow: bits, deny: bits })),
    }),
    personal: {
      by: 'byUserId',
      forget: (lock: { byUserId?: string }) => {
        delete lock.byUserId;
      },
    },
  },
} as const;

export const inject = { access: Access, clock: Clock, languages: Languages, random: Random, tierRoles: TierRoles };

export type ModerationContext = PluginContext<typeof settings, typeof collections, typeof inject>;
