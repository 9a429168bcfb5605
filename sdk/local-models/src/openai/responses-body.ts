import { z } from 'zod';
import { CALL_ID, FORMAT, IMAGE_URL, TOOL_NAME } from './shared.js';

const inputText = z.object({ type: z.literal('input_text'), text: z.string() });
const inputImage = z.object({
  type: z.literal('input_image'),
  image_url: IMAGE_URL,
  detail: z.enum(['auto', 'low', 'high']).optional(),
});
const outputText = z.object({ type: z.literal('output_text'), text: z.string() });
const output = z.discriminatedUnion('type', [inputText, inputImage]);

const item = z.union([
  z.object({
    type: z.literal('message').optional(),
    role: z.enum(['user', 'system', 'developer']),
    content: z.union([z.string(), z.array(output)]),
  }),
  z.object({
    type: z.literal('message').optional(),
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(outputText)]),
  }),
  z.object({ type: z.literal('function_call'), call_id: CALL_ID, name: TOOL_NAME, arguments: z.string() }),
  z.object({
    type: z.literal('function_call_output'),
    call_id: CALL_ID,
    output: z.union([z.string(), z.array(output)]),
  }),
]);
export type Item = z.output<typeof item>;

/** The part of a Responses request that a client of ours sends; anything else is refused. */
export const RESPONSES_BODY = z.strictObject({
  model: z.string().min(1),
  input: z.array(item).min(1),
  instructions: z.string().nullish(),
  tools: z
    .array(
      z.object({
        type: z.literal('function'),
        name: TOOL_NAME,
        description: z.string().nullish(),
        parameters: z.looseObject({ type: z.literal('object') }),
        strict: z.boolean().nullish(),
      }),
    )
    .optional(),
  text: z.object({ format: z.object({ type: z.literal('json_schema'), ...FORMAT }) }).optional(),
  store: z.boolean().optional(),
  stream: z.boolean().optional(),
  max_output_tokens: z.number().int().min(16).optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
});
export type ResponsesBody = z.output<typeof RESPONSES_BODY>;
