import { z } from 'zod';
import { type StandIn, type StandInOptions, startStandIn } from './server.js';
import type { FailStep, PromptView, ReplyStep } from './steps.js';
import { atPath, frame, pieces, type Rejection, type Rules, rawArguments, readJson, type Wire } from './wire.js';

/**
 * Anthropic's API on loopback: `POST /v1/messages`, streamed and not. Requests that the real API would refuse get a 400.
 * @example
 * await using anthropic = await startAnthropicStandIn({ steps: [say('Hello!'), fail(529), callTool('roll', { sides: 6 })] });
 * const client = new Anthropic({ apiKey: 'any', baseURL: anthropic.baseUrl });
 */
export function startAnthropicStandIn(options: StandInOptions = {}): Promise<StandIn> {
  return startStandIn(options, [MESSAGES_WIRE], '');
}

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
type Block = z.output<typeof block>;

const content = z
  .union([z.string(), z.array(block)])
  .transform((value): readonly Block[] => (typeof value === 'string' ? [{ type: 'text', text: value }] : value));

/** The supported part of a Messages request; anything else is refused. */
const MESSAGES_BODY = z.strictObject({
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
type MessagesBody = z.output<typeof MESSAGES_BODY>;

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** `POST /v1/messages`. */
const MESSAGES_WIRE: Wire = {
  match: atPath('/v1/messages'),
  reject: rejectMessages,
  view: viewMessages,
  reply: wholeMessage,
  frames: (step, model, serial) => events(step, model, serial).map((data) => frame(data, data.type)),
  failure,
  failureFrame: (step) => frame(failure(step), 'error'),
};

/** A response that is not streamed. */
export function wholeMessage(step: ReplyStep, model: string, serial: number): unknown {
  return {
    ...head(step, model, serial),
    content: blocks(step, serial).map(({ start, whole }) => ({ ...start, ...whole })),
    stop_reason: stopReason(step),
    usage: usage(step),
  };
}

/** The content of a Messages request, for scripts. */
export function viewMessages(raw: unknown): PromptView {
  const body = MESSAGES_BODY.safeParse(raw).data;
  const last = body?.messages.at(-1)?.content ?? [];
  const system = body?.system ?? '';
  return {
    model: body?.model ?? '',
    system: typeof system === 'string' ? system : system.map((block) => block.text).join('\n'),
    text: textOf(
      body?.messages.findLast(({ content }) => content.some((block) => block.type === 'text'))?.content ?? [],
    ),
    tools: (body?.tools ?? []).map((tool) => tool.name),
    results: last.flatMap((block) => (block.type === 'tool_result' ? [resultText(block.content)] : [])),
  };
}

function textOf(content: readonly Block[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}

function resultText(content: string | readonly Block[] | undefined): string {
  return typeof content === 'string' ? content : textOf(content ?? []);
}

function head(step: ReplyStep, model: string, serial: number) {
  return {
    id: `msg_${serial}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: step.stop === 'stop_sequence' ? 'stop' : null,
    usage: { ...usage(step), output_tokens: 1 },
  };
}

interface ScriptedBlock {
  readonly start: Readonly<Record<string, unknown>>;
  readonly whole: Readonly<Record<string, unknown>>;
  readonly deltas: readonly Readonly<Record<string, unknown>>[];
}

function blocks(step: ReplyStep, serial: number): readonly ScriptedBlock[] {
  const { thinking, text, calls = [] } = step;
  return [
    ...(thinking === undefined ? [] : [thinkingBlock(thinking)]),
    ...(text === undefined ? [] : [textBlock(text)]),
    ...calls.map((call, index) => {
      const raw = rawArguments(call);
      return {
        start: { type: 'tool_use', id: call.id ?? `toolu_${serial}_${index}`, name: call.name, input: {} },
        // Without streaming the API parses the arguments: invalid JSON can only be sent as a string.
        whole: { input: readJson(raw) ?? raw },
        deltas: pieces(raw).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      };
    }),
  ];
}

function thinkingBlock(thinking: string): ScriptedBlock {
  return {
    start: { type: 'thinking', thinking: '', signature: '' },
    whole: { thinking, signature: 'c2ln' },
    deltas: [
      ...pieces(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature: 'c2ln' },
    ],
  };
}

function textBlock(text: string): ScriptedBlock {
  return {
    start: { type: 'text', text: '' },
    whole: { text },
    deltas: pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
  };
}

interface MessageEvent {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** The events of a streamed response, in any framing. */
export function events(step: ReplyStep, model: string, serial: number): readonly MessageEvent[] {
  return [
    { type: 'message_start', message: head(step, model, serial) },
    { type: 'ping' },
    ...blocks(step, serial).flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason(step), stop_sequence: step.stop === 'stop_sequence' ? 'stop' : null },
      usage: { output_tokens: usage(step).output_tokens },
    },
    { type: 'message_stop' },
  ];
}

function stopReason(step: ReplyStep): string {
  return step.stop ?? ((step.calls ?? []).length > 0 ? 'tool_use' : 'end_turn');
}

function usage({ usage }: ReplyStep) {
  const read = usage?.cacheReadTokens ?? 0;
  const written = usage?.cacheCreationTokens ?? 0;
  const forAnHour = usage?.cacheCreation1hTokens ?? 0;
  return {
    input_tokens: (usage?.inputTokens ?? 10 + read + written) - read - written,
    cache_creation_input_tokens: written,
    cache_creation: { ephemeral_5m_input_tokens: written - forAnHour, ephemeral_1h_input_tokens: forAnHour },
    cache_read_input_tokens: read,
    output_tokens: usage?.outputTokens ?? 5,
  };
}

function failure(step: FailStep): unknown {
  const type = step.code ?? ERROR_TYPES[step.status] ?? 'api_error';
  return { type: 'error', error: { type, message: step.message ?? `scripted error ${step.status}` } };
}

const MAX_CACHE_BREAKPOINTS = 4;

/** Refuses what the Messages API refuses, so that a test cannot pass with a request that would get a 400. */
export function rejectMessages(raw: unknown, { prefill, forcedTools }: Rules): Rejection | undefined {
  const parsed = MESSAGES_BODY.safeParse(raw);
  if (!parsed.success) return { status: 400, message: z.prettifyError(parsed.error) };
  const message =
    wrongContent(parsed.data) ??
    wrongRoles(parsed.data, prefill) ??
    wrongText(parsed.data) ??
    wrongToolUse(merged(parsed.data)) ??
    wrongTools(parsed.data, forcedTools) ??
    wrongBreakpoints(parsed.data);
  return message === undefined ? undefined : { status: 400, message };
}

/** The API merges consecutive messages of one role. */
function merged(body: MessagesBody): MessagesBody {
  const messages: { role: 'user' | 'assistant'; content: readonly Block[] }[] = [];
  for (const { role, content } of body.messages) {
    const last = messages.at(-1);
    if (last?.role === role) last.content = [...last.content, ...content];
    else messages.push({ role, content });
  }
  return { ...body, messages };
}

function wrongContent({ messages }: MessagesBody): string | undefined {
  const index = messages.findIndex(
    ({ role, content }) => role === 'assistant' && content.some(({ type }) => type === 'image'),
  );
  return index < 0 ? undefined : `messages.${index}: 'image' blocks are not permitted within assistant turns`;
}

function wrongRoles({ messages }: MessagesBody, prefill: boolean): string | undefined {
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return undefined;
  if (!prefill)
    return 'This model does not support assistant message prefill. The conversation must end with a user message.';
  const end = last.content.at(-1);
  return end?.type === 'text' && /\s$/.test(end.text)
    ? 'messages: final assistant content cannot end with trailing whitespace'
    : undefined;
}

function wrongText({ messages }: MessagesBody): string | undefined {
  for (const [index, { content }] of messages.entries()) {
    if (content.length === 0) return `messages.${index}: all messages must have non-empty content`;
    if (content.some((block) => block.type === 'text' && block.text.trim() === '')) {
      return `messages.${index}: text content blocks must contain non-whitespace text`;
    }
  }
  return undefined;
}

function wrongToolUse({ messages }: MessagesBody): string | undefined {
  const seen = new Set<string>();
  let open: readonly string[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    const wrong = wrongResults(content, open, index);
    if (wrong !== undefined) return wrong;
    const uses = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    if (role === 'user' && uses.length > 0)
      return `messages.${index}: \`tool_use\` blocks can only be in assistant messages`;
    for (const id of uses) {
      if (seen.has(id)) return `messages.${index}: \`tool_use\` ids must be unique`;
      seen.add(id);
    }
    open = uses;
  }
  return undefined;
}

/** Compares a message's results with the calls of the previous message. */
function wrongResults(content: readonly Block[], open: readonly string[], index: number): string | undefined {
  const results = content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
  const stranger = results.find((id) => !open.includes(id));
  if (stranger !== undefined) {
    return `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stranger}`;
  }
  const missing = open.find((id) => !results.includes(id));
  if (missing !== undefined) {
    return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing}`;
  }
  if (new Set(results).size < results.length) return `messages.${index}: each tool_use must have a single result`;
  const firstOther = content.findIndex((block) => block.type !== 'tool_result');
  if (firstOther >= 0 && content.slice(firstOther).some((block) => block.type === 'tool_result')) {
    return `messages.${index}: \`tool_result\` blocks must come first in the content`;
  }
  return undefined;
}

function wrongTools({ messages, tools = [], tool_choice }: MessagesBody, forcedTools: boolean): string | undefined {
  if (!forcedTools && (tool_choice?.type === 'tool' || tool_choice?.type === 'any')) {
    return 'tool_choice: forcing tool use is not supported by this model';
  }
  if (new Set(tools.map((tool) => tool.name)).size < tools.length) return 'tools: Tool names must be unique.';
  if (tool_choice !== undefined && tools.length === 0)
    return 'tool_choice may only be specified while providing tools.';
  if (tool_choice?.type === 'tool' && !tools.some((tool) => tool.name === tool_choice.name)) {
    return `tool_choice: there is no tool "${tool_choice.name}"`;
  }
  const usesTools = messages.some(({ content }) => content.some((block) => block.type.startsWith('tool_')));
  return usesTools && tools.length === 0
    ? 'Requests which include `tool_use` or `tool_result` blocks must define tools.'
    : undefined;
}

function wrongBreakpoints({ messages, system, tools = [] }: MessagesBody): string | undefined {
  const inOrder = [
    ...tools,
    ...(typeof system === 'object' ? system : []),
    ...messages.flatMap(({ content }) => content),
  ];
  const marks = inOrder.flatMap(({ cache_control: mark }) => (mark === undefined || mark === null ? [] : [mark]));
  if (marks.length > MAX_CACHE_BREAKPOINTS) {
    return `A maximum of ${MAX_CACHE_BREAKPOINTS} blocks with cache_control may be provided. Found ${marks.length}.`;
  }
  const firstShort = marks.findIndex(({ ttl }) => ttl !== '1h');
  return firstShort >= 0 && marks.slice(firstShort).some(({ ttl }) => ttl === '1h')
    ? "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."
    : undefined;
}
