import { z } from 'zod';
import { Refusal } from './refusal.js';

const content = z.union([z.string(), z.array(z.object({ type: z.string().optional() }).loose())]);
const approval = z.object({
  type: z.literal('approval').default('approval'),
  tool_call_id: z.string(),
  approve: z.boolean(),
  reason: z.string().nullish(),
});

const userMessage = z.object({
  type: z.literal('message').nullish(),
  role: z.enum(['user', 'system', 'assistant']),
  content,
  otid: z.string().nullish(),
});
const approvalMessage = z.object({
  type: z.literal('approval'),
  approvals: z.array(approval).nullish(),
  approve: z.boolean().nullish(),
  approval_request_id: z.string().nullish(),
  reason: z.string().nullish(),
  otid: z.string().nullish(),
});

/** What a message to an agent looks like, as far as the stand-in knows it. */
export const messageRequest = z.object({
  messages: z.array(z.union([approvalMessage, userMessage])).nullish(),
  input: content.nullish(),
  agent_id: z.string().nullish(),
  /** By default streamed to conversations, and not to agents. */
  streaming: z.boolean().optional(),
  stream_tokens: z.boolean().default(false),
  include_pings: z.boolean().default(true),
  background: z.boolean().default(false),
  max_steps: z.number().int().positive().default(50),
});
export type MessageRequest = Omit<z.output<typeof messageRequest>, 'streaming'> & { readonly streaming: boolean };
export type SentMessage = z.output<typeof approvalMessage> | z.output<typeof userMessage>;

export const agentRequest = z.object({
  name: z.string().default('agent'),
  tool_ids: z.array(z.string()).nullish(),
});

export const agentChange = z.object({
  name: z.string().nullish(),
  secrets: z.record(z.string(), z.string()).nullish(),
});

const httpConfig = z.object({
  mcp_server_type: z.literal('streamable_http').default('streamable_http'),
  server_url: z.url({ protocol: /^https?$/ }),
  auth_header: z.string().nullish(),
  auth_token: z.string().nullish(),
  custom_headers: z.record(z.string(), z.string()).nullish(),
});
export const serverRequest = z.object({ server_name: z.string().min(1), config: httpConfig });
export const serverChange = z.object({
  server_name: z.string().nullish(),
  config: httpConfig.extend({ server_url: httpConfig.shape.server_url.nullish() }),
});

/** @throws Refusal 422, as the server answers what it cannot read */
export function read<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  throw new Refusal(
    422,
    parsed.error.issues.map(({ path, message }) => ({ loc: ['body', ...path], msg: message })),
  );
}
