import { z } from '@cinnabar/sdk';

const line = z.object({
  /** What it stands in; several where it was long, none when it came by slash command. */
  messageIds: z.array(z.string()),
  /** Who said it; `null`: the persona itself. */
  userId: z.string().nullable(),
  /** Whose words the persona answered with it: it goes with theirs. */
  answers: z.string().exactOptional(),
  /** As they were called then; never to be trusted. */
  displayName: z.string(),
  username: z.string(),
  text: z.string(),
  at: z.number(),
  /** A tool call that the persona made: its end is looked up. */
  callId: z.string().optional(),
});
export type Line = z.output<typeof line>;

const summary = z.object({
  text: z.string(),
  /** The messages it was made from: when one of them goes, so does the summary. */
  messageIds: z.array(z.string()),
  userIds: z.array(z.string()),
});
export type Summary = z.output<typeof summary>;

export const NO_SUMMARY: Summary = { text: '', messageIds: [], userIds: [] };

export const conversation = z.object({
  /** Oldest first. */
  lines: z.array(line).default([]),
  summary: summary.default(NO_SUMMARY),
  /** The newest message that has been looked at. */
  seenId: z.string().default('0'),
});
export type Conversation = z.output<typeof conversation>;
