import { z } from 'zod';
import type { FailStep, PromptView, ReplyStep } from '../steps.js';
import { atPath, frame, pieces, type Rejection, rawArguments, type Wire } from '../wire.js';
import { CALL_ID, errorOf, FORMAT, IMAGE_URL, TOOL_NAME, tokenCounts, wrongStrictSchema } from './shared.js';

/** `POST /v1/responses`. */
export const RESPONSES_WIRE: Wire = {
  match: atPath('/v1/responses'),
  reject: rejectResponses,
  view,
  reply: (step, model, serial) => finished(step, model, serial),
  frames,
  failure: (step) => ({ error: errorOf(step) }),
  failureFrame,
};

function view(raw: unknown): PromptView {
  const body = RESPONSES_BODY.safeParse(raw).data;
  const input = body?.input ?? [];
  const lastOther = input.findLastIndex((item) => item.type !== 'function_call_output');
  return {
    model: body?.model ?? '',
    system: body?.instructions ?? '',
    text: messageText(input.findLast((item) => 'role' in item && item.role === 'user')),
    tools: (body?.tools ?? []).map((tool) => tool.name),
    results: input
      .slice(lastOther + 1)
      .flatMap((item) => (item.type === 'function_call_output' ? [partsText(item.output)] : [])),
  };
}

function messageText(item: Item | undefined): string {
  return item !== undefined && 'role' in item ? partsText(item.content) : '';
}

function partsText(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
}

type OutputItem = { readonly id: string; readonly type: string } & Readonly<Record<string, unknown>>;

function outputItems(step: ReplyStep, serial: number): readonly OutputItem[] {
  const reasoning: OutputItem = {
    id: `rs_${serial}`,
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: step.thinking }],
  };
  const message: OutputItem = {
    id: `msg_${serial}`,
    type: 'message',
    role: 'assistant',
    status: step.stop === 'max_tokens' ? 'incomplete' : 'completed',
    content: [contentPart(step, step.text ?? '')],
  };
  return [
    ...(step.thinking === undefined ? [] : [reasoning]),
    ...(step.text === undefined ? [] : [message]),
    ...(step.calls ?? []).map((call, index) => ({
      id: `fc_${serial}_${index}`,
      type: 'function_call',
      call_id: call.id ?? `call_${serial}_${index}`,
      name: call.name,
      arguments: rawArguments(call),
      status: 'completed',
    })),
  ];
}

function head(model: string, serial: number) {
  return { id: `resp_${serial}`, object: 'response', created_at: 0, model, error: null, incomplete_details: null };
}

function finished(step: ReplyStep, model: string, serial: number) {
  const { input, output, cached, written } = tokenCounts(step.usage);
  const cutShort = step.stop === 'max_tokens';
  return {
    ...head(model, serial),
    status: cutShort ? 'incomplete' : 'completed',
    incomplete_details: cutShort ? { reason: 'max_output_tokens' } : null,
    output: outputItems(step, serial),
    parallel_tool_calls: true,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  };
}

function frames(step: ReplyStep, model: string, serial: number): readonly string[] {
  const started = { ...head(model, serial), status: 'in_progress', output: [], usage: null };
  const events = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...outputItems(step, serial).flatMap((item, index) => itemEvents(step, item, index)),
    {
      type: step.stop === 'max_tokens' ? 'response.incomplete' : 'response.completed',
      response: finished(step, model, serial),
    },
  ];
  return events.map((event, index) => frame({ ...event, sequence_number: index }, event.type));
}

function itemEvents(step: ReplyStep, item: OutputItem, outputIndex: number) {
  const at = { item_id: item.id, output_index: outputIndex };
  const opened = { ...item, status: 'in_progress', ...(item.type === 'message' ? { content: [] } : {}) };
  const inside =
    item.type === 'message'
      ? partEvents(step, at)
      : item.type === 'function_call'
        ? argumentEvents(String(item.arguments), at)
        : [];
  return [
    {
      type: 'response.output_item.added',
      output_index: outputIndex,
      item: item.type === 'function_call' ? { ...opened, arguments: '' } : opened,
    },
    ...inside,
    { type: 'response.output_item.done', output_index: outputIndex, item },
  ];
}

interface ItemPlace {
  readonly item_id: string;
  readonly output_index: number;
}

function argumentEvents(raw: string, at: ItemPlace) {
  return [
    ...pieces(raw).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
    { type: 'response.function_call_arguments.done', ...at, arguments: raw },
  ];
}

function partEvents(step: ReplyStep, item: ItemPlace) {
  const at = { ...item, content_index: 0 };
  const part = contentPart(step, '');
  const kind = step.stop === 'refusal' ? 'response.refusal' : 'response.output_text';
  const { type: _type, ...whole } = contentPart(step, step.text ?? '');
  return [
    { type: 'response.content_part.added', ...at, part },
    ...pieces(step.text ?? '').map((delta) => ({ type: `${kind}.delta`, ...at, delta })),
    { type: `${kind}.done`, ...at, ...whole },
    { type: 'response.content_part.done', ...at, part: contentPart(step, step.text ?? '') },
  ];
}

function contentPart(step: ReplyStep, text: string) {
  return step.stop === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations: [], logprobs: [] };
}

function failureFrame(step: FailStep): string {
  const { message, type, code } = errorOf(step);
  const response = {
    ...head('', 0),
    status: 'failed',
    output: [],
    error: { code: code ?? type, message },
    usage: null,
  };
  return frame({ type: 'response.failed', sequence_number: 0, response }, 'response.failed');
}

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
type Item = z.output<typeof item>;

/** The supported part of a Responses request; anything else is refused. */
const RESPONSES_BODY = z.strictObject({
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
type ResponsesBody = z.output<typeof RESPONSES_BODY>;

/** Refuses what the Responses API refuses. */
function rejectResponses(raw: unknown): Rejection | undefined {
  const parsed = RESPONSES_BODY.safeParse(raw);
  if (!parsed.success) return { status: 400, message: z.prettifyError(parsed.error), param: 'input' };
  const message = wrongCalls(parsed.data) ?? wrongTools(parsed.data) ?? wrongFormat(parsed.data);
  return message === undefined ? undefined : { status: 400, message };
}

function wrongCalls({ input }: ResponsesBody): string | undefined {
  const called = new Set<string>();
  const answered = new Set<string>();
  for (const item of input) {
    if (item.type === 'function_call') {
      if (called.has(item.call_id)) return `Duplicate function call ${item.call_id}.`;
      called.add(item.call_id);
    } else if (item.type === 'function_call_output') {
      if (!called.has(item.call_id)) return `No tool call found for function call output with call_id ${item.call_id}.`;
      if (answered.has(item.call_id)) return `Duplicate output for function call ${item.call_id}.`;
      answered.add(item.call_id);
    }
  }
  const open = [...called].find((id) => !answered.has(id));
  return open === undefined ? undefined : `No tool output found for function call ${open}.`;
}

function wrongTools({ tools = [] }: ResponsesBody): string | undefined {
  if (new Set(tools.map((tool) => tool.name)).size < tools.length) return 'Tool names must be unique.';
  for (const tool of tools) {
    const wrong = tool.strict === false ? undefined : wrongStrictSchema(tool.parameters);
    if (wrong !== undefined) return `Invalid schema for function '${tool.name}': ${wrong}`;
  }
  return undefined;
}

function wrongFormat({ text }: ResponsesBody): string | undefined {
  if (text === undefined || text.format.strict !== true) return undefined;
  const wrong = wrongStrictSchema(text.format.schema);
  return wrong === undefined ? undefined : `Invalid schema for response_format '${text.format.name}': ${wrong}`;
}
