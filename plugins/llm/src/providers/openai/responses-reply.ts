import type { LlmCompletion, StopReason, Usage } from '@cinnabar/sdk';
import type OpenAI from 'openai';
import { untilStop } from '../../stop-sequences.js';
import type { ProviderReply } from '../provider.js';
import { readToolCall } from '../tool-call.js';

type Response = OpenAI.Responses.Response;
type OutputItem = OpenAI.Responses.ResponseOutputItem;

/** Reads a finished response. Reasoning is dropped. */
export function toReply(response: Response, items: readonly OutputItem[], stops: readonly string[]): ProviderReply {
  const content = items.flatMap(readItem);
  const declined = items.some(
    (item) => item.type === 'message' && item.content.some((part) => part.type === 'refusal'),
  );
  const stopped = untilStop(content, stops);
  return {
    content: stopped ?? content,
    stopReason: stopped === undefined ? stopReason(response, content, declined) : 'stop_sequence',
    usage: toUsage(response.usage),
    model: response.model,
  };
}

function readItem(item: OutputItem): LlmCompletion['content'] {
  if (item.type === 'function_call') return [readToolCall(item.call_id, item.name, item.arguments)];
  if (item.type !== 'message') return [];
  return item.content.map((part) => ({ type: 'text', text: part.type === 'refusal' ? part.refusal : part.text }));
}

function stopReason(response: Response, content: LlmCompletion['content'], declined: boolean): StopReason {
  if (response.incomplete_details?.reason === 'max_output_tokens') return 'max_tokens';
  if (declined || response.incomplete_details?.reason === 'content_filter') return 'refusal';
  return content.some((block) => block.type !== 'text') ? 'tool_use' : 'end_turn';
}

// Compatible servers leave parts of the usage out.
function toUsage(usage: Response['usage']): Usage {
  const read = usage?.input_tokens_details?.cached_tokens ?? 0;
  const written = usage?.input_tokens_details?.cache_write_tokens ?? 0;
  return {
    inputTokens: Math.max(0, (usage?.input_tokens ?? 0) - read - written),
    outputTokens: usage?.output_tokens ?? 0,
    cacheReadTokens: read,
    cacheCreationTokens: written,
  };
}
