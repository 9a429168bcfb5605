import type { PromptView } from '../prompt.js';
import type { FailStep, ReplyStep } from '../steps.js';
import { atPath, frame, pieces, rawArguments, readJson, type Wire } from '../wire.js';
import { type Block, MESSAGES_BODY } from './body.js';
import { rejectMessages } from './reject.js';

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
export const MESSAGES_WIRE: Wire = {
  match: atPath('/v1/messages'),
  reject: rejectMessages,
  view: viewMessages,
  reply: wholeMessage,
  frames: (step, model, serial) => events(step, model, serial).map((data) => frame(data, data.type)),
  failure,
  failureFrame: (step) => frame(failure(step), 'error'),
};

/** An answer that is not streamed. */
export function wholeMessage(step: ReplyStep, model: string, serial: number): unknown {
  return {
    ...head(step, model, serial),
    content: blocks(step, serial).map(({ start, whole }) => ({ ...start, ...whole })),
    stop_reason: stopReason(step),
    usage: usage(step),
  };
}

/** What a Messages request says. */
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
        // Without streaming the API has parsed the arguments: what is no JSON can only come as a string.
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

/** The events of a streamed answer, in whatever framing. */
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
