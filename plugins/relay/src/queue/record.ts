import { z } from '@cinnabar/sdk';
import type { EventKind, RelayEvent } from '../types.js';

/** All of them, as the compiler sees to: an event of a kind that is missing here would be lost by a restart. */
const KINDS = {
  mention: 'mention',
  reply: 'reply',
  dm: 'dm',
  thread: 'thread',
  message: 'message',
  reaction: 'reaction',
  digest: 'digest',
  wake: 'wake',
} as const satisfies { readonly [K in EventKind]: K };

// Loose, so that what an event says besides is not lost either.
const event: z.ZodType<RelayEvent> = z.looseObject({
  id: z.string(),
  kind: z.enum(KINDS),
  agent: z.string(),
  guildId: z.string().nullable(),
  channelId: z.string(),
  userId: z.string().nullable(),
  facts: z.looseObject({
    at: z.number(),
    author: z
      .object({
        id: z.string(),
        username: z.string(),
        displayName: z.string(),
        roles: z.array(z.string()),
        isBot: z.boolean(),
      })
      .nullable(),
    channel: z.object({ id: z.string(), name: z.string(), type: z.enum(['text', 'dm', 'thread', 'voice']) }),
    guild: z.object({ id: z.string(), name: z.string() }).nullable(),
    messageId: z.string().nullable(),
    content: z.string(),
    lines: z.array(z.object({ authorId: z.string(), text: z.string() })).optional(),
    chain: z.array(
      z.object({
        messageId: z.string(),
        authorId: z.string(),
        author: z.string(),
        content: z.string(),
        timestamp: z.string(),
        isBot: z.boolean(),
      }),
    ),
    attachments: z.array(z.object({ name: z.string(), url: z.string(), contentType: z.string().nullable() })),
  }),
});

const numbers = z.array(z.number().int().nonnegative());

export const queueRecord = z.discriminatedUnion('is', [
  /** An event was taken, as the `n`th of this journal. `at` is when, in milliseconds since the Unix epoch. */
  z.object({ is: z.literal('taken'), n: z.number().int().nonnegative(), at: z.number(), event }),
  /** The events `of` are about to be told of together, under `key`, for the `attempt`th time, after so many failures. */
  z.object({
    is: z.literal('sent'),
    key: z.string(),
    of: numbers,
    attempt: z.number().int(),
    failures: z.number().int(),
    /** Whether the agent has posted something at an earlier attempt. */
    posted: z.boolean().optional(),
  }),
  /** What was sent under `key` has ended, well or not. */
  z.object({ is: z.literal('ended'), key: z.string() }),
  /** Taken, and not to be told of any more. */
  z.object({ is: z.literal('dropped'), of: numbers }),
  /** Ids of events that were here and are not to be taken again, oldest first. */
  z.object({ is: z.literal('known'), ids: z.array(z.string()) }),
]);

/** What happened to the queue, in the order in which it happened: the queue is what its records add up to. */
export type QueueRecord = z.output<typeof queueRecord>;
