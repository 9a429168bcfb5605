import { z } from 'zod';
import type { Actor } from './access.js';
import { defineToken } from './token.js';

/** Actions on a member. `tempban` is a ban that ends by itself, `softban` a ban that is lifted at once, to delete messages. */
export const MODERATION_ACTS = ['warn', 'timeout', 'untimeout', 'kick', 'ban', 'tempban', 'softban', 'unban'] as const;
export type ModerationAct = (typeof MODERATION_ACTS)[number];

/**
 * The state of a case's action. `pending` is written before anything is done. `unclear`: the bot was stopped during it, and Discord does not show whether it
 * was done; it is never repeated automatically.
 */
export const CASE_STATES = ['pending', 'done', 'failed', 'unclear'] as const;

/** One action on a member as a guild records it, with its number in that guild. */
export const moderationCase = z.object({
  number: z.int().positive(),
  act: z.enum(MODERATION_ACTS),
  state: z.enum(CASE_STATES),
  /** The member; removed when they had their data deleted and the guild does not keep it. */
  userId: z.string().exactOptional(),
  /** Their user name at that time. */
  userName: z.string().exactOptional(),
  /** The moderator; absent when a rule of the guild or Discord itself did it. */
  moderatorId: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  /** In ms since 1970. */
  at: z.number(),
  /** When a time-out or a temporary ban ends. */
  until: z.number().exactOptional(),
  /** When it ended, early or by itself. */
  endedAt: z.number().exactOptional(),
  /** Points of a warning. */
  points: z.int().exactOptional(),
  /** When a warning was retracted. */
  removed: z
    .object({ byUserId: z.string().exactOptional(), at: z.number(), reason: z.string().exactOptional() })
    .exactOptional(),
  /** Who acted: a moderator through this bot, a moderator in Discord itself, or a rule without a moderator. */
  origin: z.enum(['bot', 'discord', 'rule']),
  /** The number of the warning that caused it. */
  because: z.int().exactOptional(),
  /** A problem: why it failed, or that the member could not be notified. */
  note: z.string().exactOptional(),
  /** The last editor of the reason. */
  editedBy: z.string().exactOptional(),
  /** The message that shows the case. */
  post: z.object({ channelId: z.string(), messageId: z.string() }).exactOptional(),
  /** The entry of Discord's audit log that it was made from. */
  entryId: z.string().exactOptional(),
  /** Its number in the bot that it was imported from: `case 12`. */
  importedFrom: z.array(z.string()).exactOptional(),
});
export type ModerationCase = z.output<typeof moderationCase>;

/** An action to carry out on a member. */
export interface ModerationRequest {
  readonly guildId: string;
  readonly userId: string;
  readonly act: ModerationAct;
  readonly reason?: string | undefined;
  /** How long, for `timeout` and `tempban`. */
  readonly durationMs?: number | undefined;
  /** Points of a warning; by default those that the guild has set. */
  readonly points?: number | undefined;
  /** Delete the member's messages of the last days, for bans: 0 to 7. */
  readonly deleteDays?: number | undefined;
  /**
   * The moderator on whose behalf it is done: their permissions and rank are checked in addition to the bot's. Without it a rule of the guild acts (a filter of
   * messages), and only the bot's are checked.
   */
  readonly actor?: Actor | undefined;
}

/** Actions on members, each with its case in the guild's record. Provided by `moderation`. */
export interface Moderation {
  /** @throws UserError with the obstacle and the remedy: then nothing was done */
  act(request: ModerationRequest): Promise<ModerationCase>;
  /** The cases about a member, the newest first. */
  casesOf(guildId: string, userId: string): Promise<readonly ModerationCase[]>;
}
export const Moderation = defineToken<Moderation>('cinnabar.moderation');
