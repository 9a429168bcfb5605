import type { LlmCompletion, StopReason, Usage } from '@cinnabar/sdk';
import type { GenerateContentResponse, GenerateContentResponseUsageMetadata, Part } from '@google/genai';
import { checkToolCall, readToolCall } from '../json.js';
import type { ProviderReply } from '../provider.js';

type Content = LlmCompletion['content'];

/** An answer, whether it came whole or in pieces. */
export interface GeminiAnswer {
  readonly text: string;
  readonly calls: Content;
  /** `undefined` when the answer ended before its end. */
  readonly finishReason: string | undefined;
  readonly finishMessage: string | undefined;
  readonly usage: GenerateContentResponseUsageMetadata | undefined;
  readonly model: string | undefined;
}

/** What of a piece becomes part of the answer. */
export function textsOf({ candidates }: GenerateContentResponse): readonly (string | undefined)[] {
  return (candidates?.[0]?.content?.parts ?? []).map(({ text }) => text);
}

/** Puts the pieces of an answer together. Thoughts are dropped. */
export async function collect(
  pieces: AsyncIterable<GenerateContentResponse> | Iterable<GenerateContentResponse>,
  onText?: (piece: string) => void,
): Promise<GeminiAnswer> {
  let text = '';
  let finishReason: string | undefined;
  let finishMessage: string | undefined;
  let usage: GenerateContentResponseUsageMetadata | undefined;
  let model: string | undefined;
  const calls: Content[number][] = [];

  for await (const { candidates, promptFeedback, usageMetadata, modelVersion } of pieces) {
    usage = usageMetadata ?? usage;
    model = modelVersion ?? model;
    const candidate = candidates?.[0];
    // A prompt that is blocked has no candidates.
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

function readCall({ id, name = '', args }: NonNullable<Part['functionCall']>, index: number): Content[number] {
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

/** The API drops a call that it could not read, and says so. */
function malformedCall(raw: string): Content[number] {
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
