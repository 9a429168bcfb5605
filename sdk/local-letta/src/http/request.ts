import type { Method } from '@cinnabar/local-http';
import { z } from 'zod';
import type { LettaRun, World } from '../state.js';

/** A request whose route is known. */
export interface LettaRequest {
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export type Answer =
  | { readonly json: unknown }
  /** 204 */
  | { readonly nothing: true }
  /** Sends the run's frames after that number, existing and future ones. */
  | { readonly stream: LettaRun; readonly after: number };

export interface Route {
  readonly method: Method;
  /** The path in Letta's documentation, with `:names`. */
  readonly path: string;
  readonly handle: (request: LettaRequest, world: World) => Answer | Promise<Answer>;
}

export function route(method: Method, path: string, handle: Route['handle']): Route {
  return { method, path, handle };
}

/** An error response, in the server's format: `{ "detail": … }`. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly detail: unknown,
    /** Properties of the response next to `detail`. */
    readonly more: Readonly<Record<string, unknown>> = {},
  ) {
    super(`${status}: ${JSON.stringify(detail)}`);
  }
}

/** The error for a message to an agent whose tool call waits for approval. */
export function pendingApproval(messageId: string): Refusal {
  return new Refusal(409, { code: 'PENDING_APPROVAL', message: PENDING, pending_request_id: messageId });
}

export const PENDING =
  'Cannot send a new message: The agent is waiting for approval on a tool call. Please approve or deny the pending request before continuing.';

/** The requested page: `limit`, `order` by age, `after` or `before` one in that order. Default: newest first. */
export function page<T extends { readonly id: string }>(oldestFirst: readonly T[], { query }: LettaRequest): T[] {
  const order = query.get('order') ?? 'desc';
  const sorted = order === 'asc' ? [...oldestFirst] : [...oldestFirst].reverse();
  const after = sorted.findIndex(({ id }) => id === query.get('after'));
  const before = sorted.findIndex(({ id }) => id === query.get('before'));
  const limit = Number(query.get('limit') ?? 100);
  if (before >= 0) return sorted.slice(Math.max(0, before - limit), before);
  return sorted.slice(after + 1, after + 1 + limit);
}

/**
 * A page of messages. Cursors refer to time, independent of the order: `before` is older, `after` newer. `order` selects the end from which the page is taken;
 * an agent's own messages are always returned oldest first, those of a conversation and of a run in the requested order.
 */
export function messagePage<T extends { readonly id: string }>(
  oldestFirst: readonly T[],
  { query }: LettaRequest,
  route: 'agent' | 'conversation',
): T[] {
  const position = (id: string | null) => oldestFirst.findIndex((message) => message.id === id);
  const [after, before] = [position(query.get('after')), position(query.get('before'))];
  const between = oldestFirst.slice(after + 1, before < 0 ? undefined : before);
  const limit = Number(query.get('limit') ?? 100);
  if (query.get('order') === 'asc') return between.slice(0, limit);
  const newest = between.slice(Math.max(0, between.length - limit));
  return route === 'agent' ? newest : newest.reverse();
}

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

/** The message types for an agent that the stand-in supports. */
export const messageRequest = z.object({
  messages: z.array(z.union([approvalMessage, userMessage])).nullish(),
  input: content.nullish(),
  agent_id: z.string().nullish(),
  /** Default: streamed for conversations, not streamed for agents. */
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

/** @throws Refusal 422 for invalid requests, like the server */
export function read<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  throw new Refusal(
    422,
    parsed.error.issues.map(({ path, message }) => ({ loc: ['body', ...path], msg: message })),
  );
}

/** A received request, without its key. */
export interface LettaRequestRecord {
  readonly method: string;
  readonly path: string;
  /** The route, as in `/v1/agents/:agentId/messages`; `undefined` when there is none. */
  readonly route: string | undefined;
  readonly hasKey: boolean;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Milliseconds since the Unix epoch, on the stand-in's clock. */
  readonly at: number;
}
