import { z } from 'zod';
import type { PromptView, ReplyStep } from '../steps.js';
import { atPath, frame, pieces, type Rejection, rawArguments, type Wire } from '../wire.js';
import { CALL_ID, errorOf, FORMAT, IMAGE_URL, TOOL_NAME, tokenCounts, wrongStrictSchema } from './shared.js';

/** `POST /v1/chat/completions`, of OpenAI and compatible servers. */
export const CHAT_WIRE: Wire = {
  match: atPath('/v1/chat/completions'),
  reject: rejectChat,
  view,
  reply,
  frames,
  failure: (step) => ({ error: errorOf(step) }),
  failureFrame: (step) => frame({ error: errorOf(step) }),
};

function view(raw: unknown): PromptView {
  const body = CHAT_BODY.safeParse(raw).data;
  const messages = body?.messages ?? [];
  const lastOther = messages.findLastIndex((message) => message.role !== 'tool');
  return {
    model: body?.model ?? '',
    system: messages
      .flatMap((message) => (message.role === 'system' || message.role === 'developer' ? [message.content] : []))
      .join('\n'),
    text: partsText(messages.findLast((message) => message.role === 'user')?.content ?? ''),
    tools: (body?.tools ?? []).map((tool) => tool.function.name),
    results: messages.slice(lastOther + 1).flatMap((message) => (message.role === 'tool' ? [message.content] : [])),
  };
}

function partsText(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  return typeof content === 'string' ? content : content.map((part) => ('text' in part ? part.text : '')).join('');
}

function toolCalls(step: ReplyStep, serial: number) {
  return (step.calls ?? []).map((call, index) => ({
    index,
    id: call.id ?? `call_${serial}_${index}`,
    type: 'function',
    function: { name: call.name, arguments: rawArguments(call) },
  }));
}

function finishReason(step: ReplyStep): string {
  if (step.stop === 'max_tokens') return 'length';
  return (step.calls ?? []).length > 0 ? 'tool_calls' : 'stop';
}

function usage(step: ReplyStep) {
  const { input, output, cached } = tokenCounts(step.usage);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

function reply(step: ReplyStep, model: string, serial: number): unknown {
  const calls = toolCalls(step, serial).map(({ index: _index, ...call }) => call);
  const message = {
    role: 'assistant',
    content: step.stop === 'refusal' ? null : (step.text ?? null),
    refusal: step.stop === 'refusal' ? (step.text ?? '') : null,
    ...(step.thinking === undefined ? {} : { reasoning_content: step.thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    id: `chatcmpl_${serial}`,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason: finishReason(step), logprobs: null }],
    usage: usage(step),
  };
}

function frames(step: ReplyStep, model: string, serial: number): readonly string[] {
  const chunk = (choices: readonly unknown[], more: object = {}) =>
    frame({ id: `chatcmpl_${serial}`, object: 'chat.completion.chunk', created: 0, model, choices, ...more });
  const delta = (value: object) => chunk([{ index: 0, delta: value, finish_reason: null }]);
  const textKey = step.stop === 'refusal' ? 'refusal' : 'content';
  return [
    delta({ role: 'assistant', content: '' }),
    ...(step.thinking === undefined ? [] : pieces(step.thinking).map((part) => delta({ reasoning_content: part }))),
    ...(step.text === undefined ? [] : pieces(step.text).map((part) => delta({ [textKey]: part }))),
    ...toolCalls(step, serial).flatMap((call) => [
      delta({ tool_calls: [{ ...call, function: { name: call.function.name, arguments: '' } }] }),
      ...pieces(call.function.arguments).map((part) =>
        delta({ tool_calls: [{ index: call.index, function: { arguments: part } }] }),
      ),
    ]),
    chunk([{ index: 0, delta: {}, finish_reason: finishReason(step) }]),
    chunk([], { usage: usage(step) }),
    frame('[DONE]'),
  ];
}

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

/** The supported part of a Chat Completions request; anything else is refused. */
const CHAT_BODY = z.strictObject({
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
type ChatBody = z.output<typeof CHAT_BODY>;

/** Refuses what the Chat Completions API refuses. */
function rejectChat(raw: unknown): Rejection | undefined {
  const parsed = CHAT_BODY.safeParse(raw);
  if (!parsed.success) return { status: 400, message: z.prettifyError(parsed.error), param: 'messages' };
  const message = wrongToolMessages(parsed.data) ?? wrongContent(parsed.data) ?? wrongOptions(parsed.data);
  return message === undefined ? undefined : { status: 400, message };
}

function wrongToolMessages({ messages }: ChatBody): string | undefined {
  let open: string[] = [];
  const unanswered = () =>
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': ${open.join(', ')}`;
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) {
        return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
      }
      open = open.filter((id) => id !== message.tool_call_id);
    } else {
      if (open.length > 0) return unanswered();
      open = message.role === 'assistant' ? (message.tool_calls ?? []).map((call) => call.id) : [];
    }
  }
  return open.length > 0 ? unanswered() : undefined;
}

function wrongContent({ messages }: ChatBody): string | undefined {
  const index = messages.findIndex(
    (message) => message.role === 'assistant' && (message.content ?? null) === null && message.tool_calls === undefined,
  );
  return index < 0 ? undefined : `Invalid value for 'content': expected a string, got null. (messages.${index})`;
}

function wrongOptions({ stream, stream_options, response_format, max_tokens, max_completion_tokens }: ChatBody) {
  if (stream !== true && stream_options !== undefined)
    return "'stream_options' is only allowed when 'stream' is enabled.";
  if (max_tokens !== undefined && max_completion_tokens !== undefined) {
    return 'Setting max_tokens and max_completion_tokens at the same time is not supported.';
  }
  if (response_format?.json_schema.strict !== true) return undefined;
  return wrongStrictSchema(response_format.json_schema.schema);
}
