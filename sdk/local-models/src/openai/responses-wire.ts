import type { PromptView } from '../prompt.js';
import type { FailStep, ReplyStep } from '../steps.js';
import { atPath, frame, pieces, rawArguments, type Wire } from '../wire.js';
import { type Item, RESPONSES_BODY } from './responses-body.js';
import { rejectResponses } from './responses-reject.js';
import { errorOf, tokenCounts } from './shared.js';

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
