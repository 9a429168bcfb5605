import type Anthropic from '@anthropic-ai/sdk';
import type { LlmCompletion, StopReason, Usage } from '@cinnabar/sdk';
import { bounded } from '../../streaming.js';
import { CONNECTION_LOST, unreadable } from '../errors.js';
import { checkToolCall, readToolCall } from '../json.js';
import type { Attempt, ProviderCall, ProviderReply } from '../provider.js';
import { type OutputForm, toMessagesParams } from './request.js';

/** The part of a client that is used: Bedrock's client has it as well. */
interface MessagesClient {
  readonly messages: Pick<Anthropic['messages'], 'create'>;
}

/** One attempt through the Messages API. */
export async function sendMessages(client: MessagesClient, call: ProviderCall): Promise<Attempt> {
  const { params, form } = toMessagesParams(call);
  if (!call.stream) {
    const answer = fromWhole(await client.messages.create(params, { signal: call.signal }));
    if (answer === undefined) return { ok: false, failure: unreadable('it is not a message of the Messages API') };
    return { ok: true, reply: toReply(answer, form) };
  }
  const events = await client.messages.create({ ...params, stream: true }, { signal: call.signal });
  const read = bounded(events, call.maxBytes, textsOf);
  const answer = await collect(read, form.kind === 'tool' ? undefined : call.onText);
  const { cutAfterBytes } = read;
  if (cutAfterBytes !== undefined) {
    return { ok: true, reply: { ...toReply({ ...answer, stopReason: 'max_tokens' }, form), cutAfterBytes } };
  }
  // The SDK ends without an error when the connection is lost; a complete answer has its own end event.
  if (answer.stopReason === null) return { ok: false, failure: CONNECTION_LOST };
  return { ok: true, reply: toReply(answer, form) };
}

/** The body that `sendMessages` sends. */
export function renderMessages(call: ProviderCall): unknown {
  const { params } = toMessagesParams(call);
  return call.stream ? { ...params, stream: true } : params;
}

function fromWhole({ content, stop_reason, usage, model }: Anthropic.Message): MessagesAnswer | undefined {
  if (!Array.isArray(content)) return undefined;
  const blocks = content.flatMap((block): AnswerBlock[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }];
    if (block.type !== 'tool_use') return [];
    const { id, name, input } = block;
    return [
      { type: 'tool_use', id, name, raw: typeof input === 'string' ? input : JSON.stringify(input ?? {}), input },
    ];
  });
  return { blocks, stopReason: stop_reason ?? 'end_turn', usage: usage ?? {}, model };
}

function toReply(answer: MessagesAnswer, form: OutputForm): ProviderReply {
  const content = answer.blocks.map((block): LlmCompletion['content'][number] => {
    if (block.type === 'text') return block;
    // The tool for structured output is not a call: its arguments are the answer.
    if (form.kind === 'tool' && block.name === form.tool.name) return { type: 'text', text: block.raw };
    return typeof block.input === 'object' && block.input !== null
      ? checkToolCall(block.id, block.name, block.input)
      : readToolCall(block.id, block.name, block.raw);
  });
  const answered = form.kind === 'tool' ? content.slice(-1) : content;
  return {
    content: answered,
    stopReason: form.kind === 'tool' && answer.stopReason === 'tool_use' ? 'end_turn' : toStopReason(answer.stopReason),
    usage: toUsage(answer.usage),
    model: answer.model,
  };
}

function toStopReason(reason: Anthropic.StopReason | null): StopReason {
  if (reason === 'model_context_window_exceeded') return 'max_tokens';
  return reason === null || reason === 'pause_turn' ? 'end_turn' : reason;
}

function toUsage(usage: Partial<Anthropic.Usage>): Usage {
  return {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadTokens: usage.cache_read_input_tokens ?? 0,
    cacheCreationTokens: usage.cache_creation_input_tokens ?? 0,
    cacheCreation1hTokens: usage.cache_creation?.ephemeral_1h_input_tokens ?? 0,
  };
}

/** An answer of the Messages API, whether it was streamed or not. */
interface MessagesAnswer {
  readonly blocks: readonly AnswerBlock[];
  /** `null` when the stream ended before the answer did. */
  readonly stopReason: Anthropic.StopReason | null;
  readonly usage: Partial<Anthropic.Usage>;
  readonly model: string;
}

/** Thinking, and other content that the API may add, is dropped. */
type AnswerBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly raw: string;
      readonly input?: unknown;
    };

type GrowingBlock = { type: 'text'; text: string } | { type: 'tool_use'; id: string; name: string; raw: string };

/** The texts of an event that belong to the answer. */
function textsOf(event: Anthropic.RawMessageStreamEvent): readonly string[] {
  if (event.type !== 'content_block_delta') return [];
  if (event.delta.type === 'text_delta') return [event.delta.text];
  return event.delta.type === 'input_json_delta' ? [event.delta.partial_json] : [];
}

/** Combines the events of a streamed answer. The SDK's own helper throws on malformed tool arguments; here they stay text. */
async function collect(
  events: AsyncIterable<Anthropic.RawMessageStreamEvent>,
  onText?: (piece: string) => void,
): Promise<MessagesAnswer> {
  const blocks = new Map<number, GrowingBlock>();
  let stopReason: Anthropic.StopReason | null = null;
  let ended = false;
  let usage: Partial<Anthropic.Usage> = {};
  let model = '';

  for await (const event of events) {
    if (event.type === 'message_start') {
      model = event.message.model;
      usage = event.message.usage ?? {};
    } else if (event.type === 'content_block_start') open(blocks, event);
    else if (event.type === 'content_block_delta') {
      grow(blocks.get(event.index), event.delta);
      if (event.delta.type === 'text_delta') onText?.(event.delta.text);
    } else if (event.type === 'message_delta') {
      stopReason = event.delta.stop_reason;
      usage = { ...usage, output_tokens: event.usage?.output_tokens ?? usage.output_tokens ?? 0 };
    } else if (event.type === 'message_stop') ended = true;
  }
  return { blocks: [...blocks.values()], stopReason: ended ? (stopReason ?? 'end_turn') : null, usage, model };
}

function open(blocks: Map<number, GrowingBlock>, event: Anthropic.RawContentBlockStartEvent): void {
  const { content_block: block, index } = event;
  if (block.type === 'text') blocks.set(index, { type: 'text', text: block.text });
  if (block.type === 'tool_use') blocks.set(index, { type: 'tool_use', id: block.id, name: block.name, raw: '' });
}

function grow(block: GrowingBlock | undefined, delta: Anthropic.RawContentBlockDelta): void {
  if (block?.type === 'text' && delta.type === 'text_delta') block.text += delta.text;
  if (block?.type === 'tool_use' && delta.type === 'input_json_delta') block.raw += delta.partial_json;
}
