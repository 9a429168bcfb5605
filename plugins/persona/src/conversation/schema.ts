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
  /** The message that it replies to. */
  replyTo: z.string().exactOptional(),
  /** What was attached: name, type and size. */
  files: z.array(z.string()).exactOptional(),
  /** A tool call that the persona made: its end is looked up. */
  callId: z.string().optional(),
});
export type Line = z.output<typeof line>;

const part = z.object({
  /** 1: the summary of lines; above that, of chapters of the level below. */
  level: z.number().int(),
  /** Empty: something that it was made from has gone, and it has to be written anew. */
  text: z.string(),
  /** The messages that it was made from; empty where there are too many, then those from the first to the last count. */
  messageIds: z.array(z.string()),
  first: z.string(),
  last: z.string(),
  userIds: z.array(z.string()),
  /** When the latest of it was said. */
  at: z.number(),
});
export type Part = z.output<typeof part>;

/** A stretch of the conversation in a few sentences. It keeps what it was made from, one level down: when a part of it has to go, the others stay. */
const chapter = part.extend({ parts: z.array(part).default([]) });
export type Chapter = z.output<typeof chapter>;

export const conversation = z.object({
  /** Oldest first. */
  lines: z.array(line).default([]),
  /** What was said before, oldest first. */
  chapters: z.array(chapter).default([]),
  /** The newest message that has been looked at. */
  seenId: z.string().default('0'),
  /** A reset put aside what was said up to then: it is not told, and can be brought back. */
  clearedAt: z.number().default(0),
});
export type Conversation = z.output<typeof conversation>;

const before = z.looseObject({
  summary: z.object({ text: z.string(), messageIds: z.array(z.string()), userIds: z.array(z.string()) }).optional(),
});

/** Version 1 had one summary of everything. */
export function withChapters(document: unknown): unknown {
  const { summary, ...rest } = before.parse(document);
  if (summary === undefined || summary.text === '') return rest;
  const { text, messageIds, userIds } = summary;
  const [first = '0', last = first] = [messageIds[0], messageIds.at(-1)];
  return { ...rest, chapters: [{ level: 2, text, messageIds, first, last, userIds, at: 0, parts: [] }] };
}
