import type { PromptView } from '../prompt.js';
import type { ReplyStep } from '../steps.js';
import { atPath, frame, pieces, rawArguments, type Wire } from '../wire.js';
import { CHAT_BODY } from './chat-body.js';
import { rejectChat } from './chat-reject.js';
import { errorOf, tokenCounts } from './shared.js';

/** `POST /v1/chat/completions`, as OpenAI and the servers that imitate it speak it. */
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
