import { z } from 'zod';

const cacheControl = z.strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).nullish();
const image = z.object({
  type: z.literal('image'),
  source: z.union([
    z.object({
      type: z.literal('base64'),
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: z.base64().min(1),
    }),
    z.object({ type: z.literal('url'), url: z.url({ protocol: /^https?$/ }) }),
  ]),
  cache_control: cacheControl,
});
const text = z.object({ type: z.literal('text'), text: z.string(), cache_control: cacheControl });
const toolUse = z.object({
  type: z.literal('tool_use'),
  id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  input: z.record(z.string(), z.unknown()),
  cache_control: cacheControl,
});
const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
  content: z.union([z.string(), z.array(z.discriminatedUnion('type', [text, image]))]).optional(),
  is_error: z.boolean().optional(),
  cache_control: cacheControl,
});
const block = z.discriminatedUnion('type', [text, image, toolUse, toolResult]);
export type Block = z.output<typeof block>;

const content = z
  .union([z.string(), z.array(block)])
  .transform((value): readonly Block[] => (typeof value === 'string' ? [{ type: 'text', text: value }] : value));

/** The part of a Messages request that a client of ours sends; anything else is refused. */
export const MESSAGES_BODY = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.number().int().min(1),
  messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content })).min(1),
  system: z.union([z.string(), z.array(text)]).optional(),
  tools: z
    .array(
      z.object({
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
        description: z.string().optional(),
        input_schema: z.looseObject({ type: z.literal('object') }),
        cache_control: cacheControl,
      }),
    )
    .optional(),
  tool_choice: z
    .union([
      z.object({ type: z.enum(['auto', 'any', 'none']) }),
      z.object({ type: z.literal('tool'), name: z.string(), disable_parallel_tool_use: z.boolean().optional() }),
    ])
    .optional(),
  output_config: z
    .object({
      format: z.object({ type: z.literal('json_schema'), schema: z.looseObject({ type: z.literal('object') }) }),
    })
    .optional(),
  stop_sequences: z.array(z.string().regex(/\S/)).optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  stream: z.boolean().optional(),
});
export type MessagesBody = z.output<typeof MESSAGES_BODY>;
