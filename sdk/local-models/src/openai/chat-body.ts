import { z } from 'zod';
import { CALL_ID, FORMAT, IMAGE_URL, TOOL_NAME } from './shared.js';

const text = z.object({ type: z.literal('text'), text: z.string().min(1) });
const image = z.object({ type: z.literal('image_url'), image_url: z.object({ url: IMAGE_URL }) });

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['system', 'developer']), content: z.string() }),
  z.strictObject({ role: z.literal('user'), content: z.union([z.string(), z.array(z.union([text, image])).min(1)]) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string().nullish(),
    tool_calls: z
      .array(
        z.object({
          id: CALL_ID,
          type: z.literal('function'),
          function: z.object({ name: TOOL_NAME, arguments: z.string() }),
        }),
      )
      .min(1)
      .optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: CALL_ID, content: z.string() }),
]);

/** The part of a Chat Completions request that a client of ours sends; anything else is refused. */
export const CHAT_BODY = z.strictObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  tools: z
    .array(
      z.object({
        type: z.literal('function'),
        function: z.object({
          name: TOOL_NAME,
          description: z.string().optional(),
          parameters: z.looseObject({ type: z.literal('object') }),
        }),
      }),
    )
    .min(1)
    .optional(),
  response_format: z.object({ type: z.literal('json_schema'), json_schema: z.object(FORMAT) }).optional(),
  stop: z.array(z.string()).max(4).optional(),
  stream: z.boolean().optional(),
  stream_options: z.object({ include_usage: z.boolean() }).optional(),
  max_tokens: z.number().int().min(1).optional(),
  max_completion_tokens: z.number().int().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
});
export type ChatBody = z.output<typeof CHAT_BODY>;
