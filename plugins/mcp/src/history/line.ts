import { type RecordedUse, toolSource, z } from '@cinnabar/sdk';

/** One line of a file of calls. */
export const recordedUse: z.ZodType<RecordedUse> = z.object({
  call: z.object({
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
    messageId: z.string(),
    userId: z.string().exactOptional(),
    identity: z.string().exactOptional(),
  }),
  result: z.object({
    callId: z.string(),
    output: z.unknown(),
    error: z.string().exactOptional(),
    sources: z.array(toolSource).exactOptional(),
    audience: z.literal('requester').exactOptional(),
  }),
  timestamp: z.string(),
});
