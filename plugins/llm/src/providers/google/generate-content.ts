import type { LlmCompletion, ModelTool, StopReason, Usage } from '@cinnabar/sdk';
import type { FunctionCall, GenerateContentResponse, GenerateContentResponseUsageMetadata } from '@google/genai';
import { toTranscript } from '../../transcript/transcript.js';
import { type CallResult, imageRule, joinTexts, type Part, type Turn, wordsOf } from '../../transcript/turns.js';
import { checkToolCall, outputSchema, readToolCall, withoutDialect } from '../json.js';
import type { ProviderCall, ProviderReply } from '../provider.js';

/** A part of a message; exactly one field is set. */
interface GeminiPart {
  readonly text?: string;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  readonly fileData?: { readonly mimeType: string; readonly fileUri: string };
  readonly functionCall?: {
    readonly id: string;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
  };
  readonly functionResponse?: {
    readonly id: string;
    readonly name: string;
    readonly response: Readonly<Record<string, unknown>>;
  };
  readonly thoughtSignature?: string;
}

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly GeminiPart[];
}

/** The body of `POST …:generateContent`. */
export interface GeminiBody {
  readonly systemInstruction: { readonly parts: readonly GeminiPart[]; readonly role: 'user' };
  readonly contents: readonly Content[];
  readonly tools?: readonly [{ readonly functionDeclarations: readonly object[] }];
  readonly generationConfig: Readonly<Record<string, unknown>>;
}

const IMAGE_LIMITS = {
  mediaTypes: ['image/png', 'image/jpeg', 'image/webp'],
  protocols: ['https:', 'http:'],
  maxBytes: 15 * 1024 * 1024,
};
const MAX_STOPS = 5;
/** The vendor's documented placeholder for calls without a known signature; newer models refuse calls without one. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

export function toGeminiBody(call: ProviderCall): GeminiBody {
  const { request, model, maxTokens, temperature, topP } = call;
  const { system, turns } = toTranscript(request, imageRule(IMAGE_LIMITS, call.images));
  const tools = request.output === undefined ? (request.tools ?? []) : [];
  const stops = (request.stopSequences ?? []).filter((stop) => stop !== '').slice(0, MAX_STOPS);
  const signed = /gemini-([3-9]|\d\d)/.test(model);
  const names = new Map(
    turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls.map(({ id, name }) => [id, name] as const) : [])),
  );
  return {
    systemInstruction: { parts: [{ text: system }], role: 'user' },
    contents: turns.flatMap((turn) => toContents(turn, names, signed)),
    ...(tools.length === 0 ? {} : { tools: [{ functionDeclarations: tools.map(toDeclaration) }] }),
    generationConfig: {
      ...(temperature === undefined ? {} : { temperature }),
      ...(topP === undefined ? {} : { topP }),
      ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
      ...(stops.length === 0 ? {} : { stopSequences: stops }),
      ...(request.output === undefined
        ? {}
        : { responseMimeType: 'application/json', responseJsonSchema: outputSchema(request.output.schema) }),
    },
  };
}

function toDeclaration({ name, description, inputSchema }: ModelTool): object {
  return { name, description, parametersJsonSchema: withoutDialect(inputSchema) };
}

function toContents(turn: Turn, names: ReadonlyMap<string, string>, signed: boolean): readonly Content[] {
  if (turn.role === 'user') return [{ role: 'user', parts: joinTexts(turn.parts).map(toPart) }];
  if (turn.role === 'results') return toResponses(turn.results, names);
  const words = wordsOf(turn);
  const calls = turn.calls.map(
    ({ id, name, input }): GeminiPart => ({
      functionCall: { id, name, args: input },
      ...(signed ? { thoughtSignature: NO_SIGNATURE } : {}),
    }),
  );
  return [{ role: 'model', parts: [...(words === '' ? [] : [{ text: words }]), ...calls] }];
}

/** A function response contains data only: images follow in a separate message. */
function toResponses(results: readonly CallResult[], names: ReadonlyMap<string, string>): readonly Content[] {
  const images = results.flatMap(({ parts }) => parts.filter((part) => part.type === 'image'));
  const responses = results.map(({ id, parts, isError }): GeminiPart => {
    const text = parts.map((part) => (part.type === 'text' ? part.text : '(the image below)')).join('\n');
    return {
      functionResponse: { id, name: names.get(id) ?? 'unnamed', response: { [isError ? 'error' : 'output']: text } },
    };
  });
  const shown: readonly GeminiPart[] = [{ text: '(Images from the tool results above.)' }, ...images.map(toPart)];
  return [
    { role: 'user', parts: responses },
    ...(images.length === 0 ? [] : [{ role: 'user' as const, parts: shown }]),
  ];
}

function toPart(part: Part): GeminiPart {
  if (part.type === 'text') return { text: part.text };
  const { type, data, mediaType } = part.source;
  const mimeType = mediaType.toLowerCase();
  return type === 'url' ? { fileData: { mimeType, fileUri: data } } : { inlineData: { mimeType, data } };
}

type Answered = LlmCompletion['content'];

/** An answer, streamed or not. */
export interface GeminiAnswer {
  readonly text: string;
  readonly calls: Answered;
  /** `undefined` when the stream ended before the answer. */
  readonly finishReason: string | undefined;
  readonly finishMessage: string | undefined;
  readonly usage: GenerateContentResponseUsageMetadata | undefined;
  readonly model: string | undefined;
}

/** The texts of a chunk that belong to the answer. */
export function textsOf({ candidates }: GenerateContentResponse): readonly (string | undefined)[] {
  return (candidates?.[0]?.content?.parts ?? []).map(({ text }) => text);
}

/** Combines the chunks of an answer. Thoughts are dropped. */
export async function collect(
  pieces: AsyncIterable<GenerateContentResponse> | Iterable<GenerateContentResponse>,
  onText?: (piece: string) => void,
): Promise<GeminiAnswer> {
  let text = '';
  let finishReason: string | undefined;
  let finishMessage: string | undefined;
  let usage: GenerateContentResponseUsageMetadata | undefined;
  let model: string | undefined;
  const calls: Answered[number][] = [];

  for await (const { candidates, promptFeedback, usageMetadata, modelVersion } of pieces) {
    usage = usageMetadata ?? usage;
    model = modelVersion ?? model;
    const candidate = candidates?.[0];
    // The response to a blocked prompt has no candidates.
    finishReason = candidate?.finishReason ?? promptFeedback?.blockReason ?? finishReason;
    finishMessage = candidate?.finishMessage ?? promptFeedback?.blockReasonMessage ?? finishMessage;
    for (const part of candidate?.content?.parts ?? []) {
      if (part.functionCall !== undefined) calls.push(readCall(part.functionCall, calls.length));
      else if (part.text !== undefined && part.thought !== true) {
        text += part.text;
        if (part.text !== '') onText?.(part.text);
      }
    }
  }
  return { text, calls, finishReason, finishMessage, usage, model };
}

function readCall({ id, name = '', args }: FunctionCall, index: number): Answered[number] {
  const callId = id || `call_${index}`;
  const input: unknown = args ?? {};
  return typeof input === 'string' ? readToolCall(callId, name, input) : checkToolCall(callId, name, input);
}

export function toReply(
  { text, calls, finishReason, finishMessage, usage, model }: GeminiAnswer,
  asked: string,
): ProviderReply {
  const broken = finishReason === 'MALFORMED_FUNCTION_CALL' && calls.length === 0;
  const words = text || (REFUSALS.has(finishReason ?? '') ? (finishMessage ?? '') : '');
  return {
    content: [
      ...(words === '' ? [] : [{ type: 'text' as const, text: words }]),
      ...calls,
      ...(broken ? [malformedCall(finishMessage ?? '')] : []),
    ],
    stopReason: stopReason(finishReason, calls.length > 0 || broken),
    usage: toUsage(usage),
    model: model ?? asked,
  };
}

/** The API drops a call that it could not parse, and reports it with the finish reason. */
function malformedCall(raw: string): Answered[number] {
  return {
    type: 'malformed_tool_use',
    id: 'call_0',
    name: 'unnamed',
    raw,
    reason: 'the provider could not read the call',
  };
}

const REFUSALS = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'LANGUAGE',
  'IMAGE_SAFETY',
  'JAILBREAK',
  'BLOCKED_REASON_UNSPECIFIED',
]);

function stopReason(reason: string | undefined, called: boolean): StopReason {
  if (reason === 'MAX_TOKENS') return 'max_tokens';
  if (REFUSALS.has(reason ?? '')) return 'refusal';
  return called ? 'tool_use' : 'end_turn';
}

function toUsage(usage: GenerateContentResponseUsageMetadata | undefined): Usage {
  const read = usage?.cachedContentTokenCount ?? 0;
  const prompt = (usage?.promptTokenCount ?? 0) + (usage?.toolUsePromptTokenCount ?? 0);
  return {
    inputTokens: Math.max(0, prompt - read),
    outputTokens: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
    cacheReadTokens: read,
    cacheCreationTokens: 0,
  };
}
