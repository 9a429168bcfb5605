import { z } from 'zod';
import type { Actor } from './access.js';
import { defineToken } from './token.js';

/** What can be done to a member. `tempban` is a ban that ends by itself, `softban` a ban that is lifted at once, to delete messages. */
export const MODERATION_ACTS = ['warn', 'timeout', 'untimeout', 'kick', 'ban', 'tempban', 'softban', 'unban'] as const;
export type ModerationAct = (typeof MODERATION_ACTS)[number];

/**
 * How far the act of a case has come. `pending` is written before anything is done. `unclear`: the bot was stopped in the middle, and Discord
 * does not tell whether it was done; it is never repeated by itself.
 */
export const CASE_STATES = ['pending', 'done', 'failed', 'unclear'] as const;

/** One act on a member as a guild keeps it, with its number in that guild. */
export const moderationCase = z.object({
  number: z.int().positive(),
  act: z.enum(MODERATION_ACTS),
  state: z.enum(CASE_STATES),
  /** Whom it is about; gone when the member had it deleted and the guild does not keep it. */
  userId: z.string().exactOptional(),
  /** Their user name then. */
  userName: z.string().exactOptional(),
  /** Who did it; none where a setting or Discord itself did. */
  moderatorId: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  /** In ms since 1970. */
  at: z.number(),
  /** When a time-out or a temporary ban ends. */
  until: z.number().exactOptional(),
  /** When it was over before, or by itself. */
  endedAt: z.number().exactOptional(),
  /** Of a warning. */
  points: z.int().exactOptional(),
  /** Of a warning that was taken back. */
  removed: z
    .object({ byUserId: z.string().exactOptional(), at: z.number(), reason: z.string().exactOptional() })
    .exactOptional(),
  /** How it came about: by this bot for the moderator, by a moderator in Discord itself, or by a rule without a moderator. */
  origin: z.enum(['bot', 'discord', 'rule']),
  /** The number of the warning that led to it. */
  because: z.int().exactOptional(),
  /** What was not as it should be: why it failed, that the member could not be told. */
  note: z.string().exactOptional(),
  /** Who changed the reason last. */
  editedBy: z.string().exactOptional(),
  /** Where it is posted. */
  post: z.object({ channelId: z.string(), messageId: z.string() }).exactOptional(),
  /** The entry of Discord's audit log that it was made from. */
  entryId: z.string().exactOptional(),
  /** What it was in the bot that it was taken over from: `case 12`. */
  importedFrom: z.array(z.string()).exactOptional(),
});
export type ModerationCase = z.output<typeof moderationCase>;

export interface ModerationRequest {
  readonly guildId: string;
  readonly userId: string;
  readonly act: ModerationAct;
  readonly reason?: string | undefined;
  /** How long, for `timeout` and `tempban`. */
  readonly durationMs?: number | undefined;
  /** Of a warning; by default what the guild has set. */
  readonly points?: number | undefined;
  /** Delete what they wrote in the last days, for bans: 0 to 7. */
  readonly deleteDays?: number | undefined;
  /**
   * The moderator on whose behalf it is done: their permissions and rank count beside the bot's. Without it a rule of the guild acts (a filter of
   * messages), and only the bot's count.
   */
  readonly actor?: Actor | undefined;
}

/** Acts on members, each with its case in the guild's record. Provided by `moderation`. */
export interface Moderation {
  /** @throws UserError with what stands in the way, and the remedy: then nothing was done */
  act(request: ModerationRequest): Promise<ModerationCase>;
  /** The cases about a member, the newest first. */
  casesOf(guildId: string, userId: string): Promise<readonly ModerationCase[]>;
}
export const Moderation = defineToken<Moderation>('cinnabar.moderation');
