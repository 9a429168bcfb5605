import type { StopReason, Usage } from '@cinnabar/sdk';
import type OpenAI from 'openai';
import { bounded } from '../../streaming/bounded.js';
import type { JsonFields } from '../../vendors/source.js';
import { CONNECTION_LOST, unreadable } from '../http-failure.js';
import type { Attempt, ProviderCall, ProviderReply } from '../provider.js';
import { readToolCall } from '../tool-call.js';
import { toChatParams } from './chat-request.js';
import { type ChatAnswer, collect, textsOf } from './chat-stream.js';

const STREAMED = { stream: true, stream_options: { include_usage: true } } as const;

/** One attempt through the Chat Completions API. */
export async function sendChat(
  client: OpenAI,
  call: ProviderCall,
  genuine: boolean,
  body?: JsonFields,
): Promise<Attempt> {
  const params = { ...toChatParams(call, genuine), ...body };
  if (!call.stream) {
    const answer = fromWhole(await client.chat.completions.create(params, { signal: call.signal }));
    if (answer === undefined) return { ok: false, failure: unreadable('it is not a chat completion') };
    return { ok: true, reply: toReply(answer) };
  }
  const stream = await client.chat.completions.create({ ...params, ...STREAMED }, { signal: call.signal });
  const read = bounded(stream, call.maxBytes, textsOf);
  const answer = await collect(read, call.onText);
  const { cutAfterBytes } = read;
  if (cutAfterBytes !== undefined) {
    return { ok: true, reply: { ...toReply({ ...answer, finishReason: 'length' }), cutAfterBytes } };
  }
  // The SDK ends quietly when the connection does; an answer has an end of its own.
  if (answer.finishReason === null) return { ok: false, failure: CONNECTION_LOST };
  return { ok: true, reply: toReply(answer) };
}

/** The body that `sendChat` sends. */
export function renderChat(call: ProviderCall, genuine: boolean, body?: JsonFields): unknown {
  const params = { ...toChatParams(call, genuine), ...body };
  return call.stream ? { ...params, ...STREAMED } : params;
}

function fromWhole({ choices, usage, model }: OpenAI.Chat.ChatCompletion): ChatAnswer | undefined {
  const choice = choices?.[0];
  if (choice?.message === undefined) return undefined;
  const { content, refusal, tool_calls: calls } = choice.message;
  return {
    text: content ?? '',
    refusal: refusal ?? '',
    calls: (calls ?? []).flatMap((call) =>
      call.type === 'function' ? [{ id: call.id, name: call.function.name, raw: call.function.arguments }] : [],
    ),
    finishReason: choice.finish_reason,
    usage,
    model,
  };
}

function toReply(answer: ChatAnswer): ProviderReply {
  const text = answer.text || answer.refusal;
  return {
    content: [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...answer.calls.map(({ id, name, raw }, index) => readToolCall(id || `call_${index}`, name, raw ?? '')),
    ],
    stopReason: stopReason(answer),
    usage: toUsage(answer.usage),
    model: answer.model,
  };
}

function stopReason({ finishReason, refusal, calls }: ChatAnswer): StopReason {
  if (finishReason === 'length') return 'max_tokens';
  if (finishReason === 'content_filter' || refusal !== '') return 'refusal';
  // Some servers say `stop` also when they call.
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

function toUsage(usage: OpenAI.CompletionUsage | undefined): Usage {
  const read = usage?.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    inputTokens: Math.max(0, (usage?.prompt_tokens ?? 0) - read),
    outputTokens: usage?.completion_tokens ?? 0,
    cacheReadTokens: read,
    cacheCreationTokens: 0,
  };
}
