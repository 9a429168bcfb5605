import type { ModelTool, StopReason, Usage } from '@cinnabar/sdk';
import type OpenAI from 'openai';
import { prefillStops, READ_ON, toScript } from '../../prefill/script.js';
import { bounded } from '../../streaming.js';
import { toTranscript } from '../../transcript/transcript.js';
import { imageRule, joinTexts, type Part, type ResultsTurn, type Turn, wordsOf } from '../../transcript/turns.js';
import type { VendorConfig } from '../definition.js';
import { CONNECTION_LOST, unreadable } from '../errors.js';
import { isClosed, outputSchema, readToolCall, withoutDialect } from '../json.js';
import type { Attempt, ProviderCall, ProviderReply } from '../provider.js';
import { IMAGE_LIMITS, imageUrl } from './responses.js';

const STREAMED = { stream: true, stream_options: { include_usage: true } } as const;

/** One attempt through the Chat Completions API. */
export async function sendChat(
  client: OpenAI,
  call: ProviderCall,
  genuine: boolean,
  body: VendorConfig['body'],
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
  // The SDK ends without an error when the connection is lost; a complete answer has its own end event.
  if (answer.finishReason === null) return { ok: false, failure: CONNECTION_LOST };
  return { ok: true, reply: toReply(answer) };
}

/** The body that `sendChat` sends. */
export function renderChat(call: ProviderCall, genuine: boolean, body: VendorConfig['body']): unknown {
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
  // Some servers report `stop` for calls as well.
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

type Params = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
type Message = OpenAI.Chat.ChatCompletionMessageParam;
type UserPart = OpenAI.Chat.ChatCompletionContentPartText | OpenAI.Chat.ChatCompletionContentPartImage;

const MAX_STOPS = 4;

/**
 * The request in the form of `POST /chat/completions`.
 * @param genuine whether it goes to OpenAI itself, whose newer models use another name for the token limit than all others
 */
function toChatParams(call: ProviderCall, genuine: boolean): Params {
  const { request, model, maxTokens, temperature, topP } = call;
  const { messages, tools, stops } = call.mode === 'prefill' ? toPrefill(call) : toChat(call);
  return {
    model,
    messages: [...messages],
    ...(tools.length === 0 ? {} : { tools: tools.map(toTool) }),
    ...(request.output === undefined ? {} : { response_format: toFormat(request.output) }),
    ...(stops.length === 0 ? {} : { stop: [...stops] }),
    ...(maxTokens === undefined ? {} : { [genuine ? 'max_completion_tokens' : 'max_tokens']: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
  };
}

function toTool({ name, description, inputSchema }: ModelTool): OpenAI.Chat.ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters: withoutDialect(inputSchema) } };
}

interface Conversation {
  readonly messages: readonly Message[];
  readonly tools: readonly ModelTool[];
  readonly stops: readonly string[];
}

function toChat({ request, images }: ProviderCall): Conversation {
  const { system, turns } = toTranscript(request, imageRule(IMAGE_LIMITS, images));
  return {
    messages: [{ role: 'system', content: system }, ...turns.flatMap(toMessages)],
    tools: request.tools ?? [],
    stops: (request.stopSequences ?? []).filter((text) => text !== '').slice(0, MAX_STOPS),
  };
}

/** The conversation as the beginning of the answer, for servers that continue it. Without images. */
function toPrefill({ request }: ProviderCall): Conversation {
  const { system, tools, messages } = toScript(request, () => 'this form of conversation has no place for it');
  const user = (content: string): Message => ({ role: 'user', content });
  return {
    messages: [
      { role: 'system', content: system },
      user(READ_ON),
      ...(tools === undefined ? [] : [user(tools)]),
      ...messages.map((parts): Message => ({ role: 'assistant', content: textOf(parts) })),
    ],
    tools: [],
    stops: prefillStops(request, MAX_STOPS),
  };
}

function toFormat({ name, schema }: NonNullable<ProviderCall['request']['output']>) {
  const json = outputSchema(schema);
  return { type: 'json_schema' as const, json_schema: { name, schema: { ...json }, strict: isClosed(json) } };
}

function toMessages(turn: Turn): readonly Message[] {
  if (turn.role === 'user') return [{ role: 'user', content: toContent(turn.parts) }];
  if (turn.role === 'results') return toToolMessages(turn);
  const calls = turn.calls.map(({ id, name, input }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(input) },
  }));
  const content = wordsOf(turn) || null;
  return [{ role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
}

/** A tool message contains text only: images follow in a user message. */
function toToolMessages({ results }: ResultsTurn): readonly Message[] {
  const images = results.flatMap(({ parts }) => parts.filter((part) => part.type === 'image'));
  const messages = results.map(({ id, parts }): Message => {
    const text = parts.map((part) => (part.type === 'text' ? part.text : '(the image below)')).join('\n');
    return { role: 'tool', tool_call_id: id, content: text };
  });
  if (images.length === 0) return messages;
  const note: UserPart = { type: 'text', text: '(Images from the tool results above.)' };
  return [...messages, { role: 'user', content: [note, ...images.map(toPart)] }];
}

// Plain text stays a plain string, since some compatible servers accept nothing else.
function toContent(parts: readonly Part[]): string | UserPart[] {
  return parts.every((part) => part.type === 'text') ? textOf(parts) : joinTexts(parts).map(toPart);
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function toPart(part: Part): UserPart {
  return part.type === 'text'
    ? { type: 'text', text: part.text }
    : { type: 'image_url', image_url: { url: imageUrl(part.source) } };
}

type Chunk = OpenAI.Chat.ChatCompletionChunk;

interface GrowingCall {
  id: string;
  name: string;
  raw: string;
}

/** An answer of the Chat Completions API, streamed or not. */
interface ChatAnswer {
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly Readonly<GrowingCall>[];
  /** `null` when the stream ended before the answer did. */
  readonly finishReason: string | null;
  readonly usage: OpenAI.CompletionUsage | undefined;
  readonly model: string;
}

/** The texts of a chunk that belong to the answer. */
function textsOf({ choices }: Chunk): readonly (string | null | undefined)[] {
  const delta = choices?.[0]?.delta;
  return [delta?.content, delta?.refusal, ...(delta?.tool_calls ?? []).map((call) => call.function?.arguments)];
}

/** Combines the chunks of a streamed answer. */
async function collect(stream: AsyncIterable<Chunk>, onText?: (piece: string) => void): Promise<ChatAnswer> {
  let text = '';
  let refusal = '';
  let finishReason: string | null = null;
  let usage: OpenAI.CompletionUsage | undefined;
  let model = '';
  const calls: GrowingCall[] = [];
  const atIndex = new Map<number, GrowingCall>();

  for await (const chunk of stream) {
    model ||= chunk.model;
    usage = chunk.usage ?? usage;
    const choice = chunk.choices?.[0];
    if (choice === undefined) continue;
    const piece = choice.delta?.content ?? '';
    text += piece;
    if (piece !== '') onText?.(piece);
    refusal += choice.delta?.refusal ?? '';
    finishReason = choice.finish_reason ?? finishReason;
    for (const part of choice.delta?.tool_calls ?? []) grow(calls, atIndex, part);
  }
  return { text, refusal, calls, finishReason, usage, model };
}

function grow(
  calls: GrowingCall[],
  atIndex: Map<number, GrowingCall>,
  piece: OpenAI.Chat.ChatCompletionChunk.Choice.Delta.ToolCall,
): void {
  const known = atIndex.get(piece.index);
  // Some servers give every call the index 0: another id is another call.
  const continues = known !== undefined && (piece.id === undefined || known.id === '' || piece.id === known.id);
  const call = continues ? known : { id: '', name: '', raw: '' };
  if (!continues) {
    calls.push(call);
    atIndex.set(piece.index, call);
  }
  call.id ||= piece.id ?? '';
  call.name ||= piece.function?.name ?? '';
  call.raw += piece.function?.arguments ?? '';
}
