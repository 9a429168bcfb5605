import { z } from '@cinnabar/sdk';
import type { Change } from '../table/change.js';
import type { Memory } from '../types.js';

const memory: z.ZodType<Memory> = z.object({
  id: z.string().min(1),
  kind: z.enum(['fact', 'reflection']),
  text: z.string(),
  subject: z.string(),
  subjectName: z.string().nullable(),
  speakerName: z.string().nullable(),
  speaker: z.string(),
  messageId: z.string().nullable(),
  channelId: z.string(),
  guildId: z.string().nullable(),
  at: z.number(),
  importance: z.number().min(1).max(10),
  visibility: z.enum(['guild', 'channel', 'dm']),
  attribute: z.string().nullable(),
  supersededBy: z.string().nullable(),
  duplicateOf: z.string().nullable(),
  evidence: z.array(
    z.object({
      id: z.string(),
      messageId: z.string().nullable(),
      channelId: z.string(),
      people: z.array(z.string()),
    }),
  ),
  lastAccess: z.number(),
  setAsideAt: z.number().nullable(),
});

/** One line of a memory file. */
export const changeSchema: z.ZodType<Change> = z.object({
  drop: z.array(z.string()).optional(),
  put: z.array(memory).optional(),
  reflected: z.union([z.array(z.string()), z.literal('all')]).optional(),
  seen: z.array(z.tuple([z.string(), z.number()])).optional(),
  vectors: z.array(z.tuple([z.string(), z.string()])).optional(),
});
