import type { LlmCompletion, ModelTool, StopReason, Usage } from '@cinnabar/sdk';
import type OpenAI from 'openai';
import { bounded, untilStop } from '../../streaming.js';
import { toTranscript } from '../../transcript/transcript.js';
import {
  type CallResult,
  COMMON_MEDIA_TYPES,
  imageRule,
  joinTexts,
  type Part,
  type Turn,
  wordsOf,
} from '../../transcript/turns.js';
import type { VendorConfig } from '../definition.js';
import { CONNECTION_LOST, type HttpProblem, unreadable } from '../errors.js';
import { isClosed, outputSchema, readToolCall, withoutDialect } from '../json.js';
import type { Attempt, Failure, ProviderCall, ProviderReply } from '../provider.js';

type Response = OpenAI.Responses.Response;
type OutputItem = OpenAI.Responses.ResponseOutputItem;
type Explain = (problem: HttpProblem) => Failure;

/** One attempt through the Responses API. */
export async function sendResponses(
  client: OpenAI,
  call: ProviderCall,
  body: VendorConfig['body'],
  explain: Explain,
): Promise<Attempt> {
  const params = { ...toResponsesParams(call), ...body };
  const stops = call.request.stopSequences ?? [];
  if (!call.stream) {
    const response = await client.responses.create(params, { signal: call.signal });
    return finish(response, response.output, stops, explain);
  }
  const stream = await client.responses.create({ ...params, stream: true }, { signal: call.signal });
  const items: OutputItem[] = [];
  const read = bounded(stream, call.maxBytes, (event) =>
    'delta' in event && typeof event.delta === 'string' ? [event.delta] : [],
  );
  let text = '';
  for await (const event of read) {
    if (event.type === 'response.output_text.delta') {
      text += event.delta;
      call.onText?.(event.delta);
    }
    if (event.type === 'response.output_item.done') items.push(event.item);
    else if (event.type === 'error') return failed(event.code, event.message, explain);
    else if (
      event.type === 'response.completed' ||
      event.type === 'response.incomplete' ||
      event.type === 'response.failed'
    ) {
      // Some compatible servers omit the output from the last event.
      const { response } = event;
      return finish(response, response.output?.length > 0 ? response.output : items, stops, explain);
    }
  }
  const { cutAfterBytes } = read;
  if (cutAfterBytes !== undefined) {
    const content = text === '' ? [] : [{ type: 'text' as const, text }];
    // The API reports the usage at the end of an answer.
    const usage = { inputTokens: 0, outputTokens: 0 };
    return { ok: true, reply: { content, stopReason: 'max_tokens', usage, cutAfterBytes, model: call.model } };
  }
  // The SDK ends without an error when the connection is lost; a complete answer has its own end event.
  return { ok: false, failure: CONNECTION_LOST };
}

/** The body that `sendResponses` sends. */
export function renderResponses(call: ProviderCall, body: VendorConfig['body']): unknown {
  const params = { ...toResponsesParams(call), ...body };
  return call.stream ? { ...params, stream: true } : params;
}

function finish(response: Response, items: readonly OutputItem[], stops: readonly string[], explain: Explain): Attempt {
  if (response.error) return failed(response.error.code, response.error.message, explain);
  if (!Array.isArray(items)) return { ok: false, failure: unreadable('it is not a response of the Responses API') };
  return { ok: true, reply: toReply(response, items, stops) };
}

function failed(code: string | null, message: string, explain: Explain): Attempt {
  const kinds = code === null ? [] : [code];
  return { ok: false, failure: explain({ status: undefined, kinds, param: undefined, message, headers: undefined }) };
}

type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type Item = OpenAI.Responses.ResponseInputItem;

export const IMAGE_LIMITS = {
  mediaTypes: COMMON_MEDIA_TYPES,
  protocols: ['https:', 'http:'],
  maxBytes: 20 * 1024 * 1024,
};
const LEAST_OUTPUT_TOKENS = 16;

/** The request in the form of `POST /responses`. Nothing is stored at the provider: each request contains the whole conversation. */
function toResponsesParams(call: ProviderCall): Params {
  const { request, model, maxTokens, temperature, topP } = call;
  const { system, turns } = toTranscript(request, imageRule(IMAGE_LIMITS, call.images));
  const tools = request.tools ?? [];
  return {
    model,
    instructions: system,
    input: turns.flatMap(toItems),
    store: false,
    ...(tools.length === 0 ? {} : { tools: tools.map(toTool) }),
    ...(request.output === undefined ? {} : { text: { format: toFormat(request.output) } }),
    ...(maxTokens === undefined ? {} : { max_output_tokens: Math.max(LEAST_OUTPUT_TOKENS, maxTokens) }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
  };
}

/** Not strict: strict mode cannot express optional arguments with defaults. */
function toTool({ name, description, inputSchema }: ModelTool): OpenAI.Responses.FunctionTool {
  return { type: 'function', name, description, parameters: withoutDialect(inputSchema), strict: false };
}

function toFormat({ name, schema }: NonNullable<ProviderCall['request']['output']>) {
  const json = outputSchema(schema);
  return { type: 'json_schema' as const, name, schema: { ...json }, strict: isClosed(json) };
}

function toItems(turn: Turn): readonly Item[] {
  if (turn.role === 'user') return [{ role: 'user', content: joinTexts(turn.parts).map(toContent) }];
  if (turn.role === 'results') return turn.results.map(toOutput);
  const calls = turn.calls.map(
    ({ id, name, input }): Item => ({ type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) }),
  );
  const words = wordsOf(turn);
  return words === '' ? calls : [{ role: 'assistant', content: words }, ...calls];
}

function toOutput({ id, parts }: CallResult): Item {
  const [only, ...more] = parts;
  const output = only?.type === 'text' && more.length === 0 ? only.text : parts.map(toContent);
  return { type: 'function_call_output', call_id: id, output };
}

function toContent(part: Part): OpenAI.Responses.ResponseInputText | OpenAI.Responses.ResponseInputImage {
  return part.type === 'text'
    ? { type: 'input_text', text: part.text }
    : { type: 'input_image', image_url: imageUrl(part.source), detail: 'auto' };
}

export function imageUrl({ type, data, mediaType }: Extract<Part, { type: 'image' }>['source']): string {
  return type === 'url' ? data : `data:${mediaType.toLowerCase()};base64,${data}`;
}

/** Reads a finished response. Reasoning is dropped. */
function toReply(response: Response, items: readonly OutputItem[], stops: readonly string[]): ProviderReply {
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

// Compatible servers omit parts of the usage.
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
