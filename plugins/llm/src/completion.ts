import {
  CinnabarError,
  estimatePromptTokens,
  type LlmCompletion,
  type LlmRequest,
  tokensOf,
  type Usage,
} from '@cinnabar/sdk';
import { z } from 'zod';
import { contentOf, createAnswerReader, givenStops } from './prefill/script.js';
import type { Mode, ProviderReply } from './providers/provider.js';
import { beginningOf, untilStop } from './streaming.js';

/**
 * Converts the provider's reply into a completion: removes the model's own name at the beginning, parses calls in the text, validates structured output.
 * @param idFor makes ids for calls that a model has written in its text
 * @param maxToolCalls further calls are left out
 */
export function finishCompletion(
  request: LlmRequest,
  provider: string,
  reply: ProviderReply,
  mode: Mode,
  idFor: () => string,
  maxToolCalls = Number.POSITIVE_INFINITY,
): LlmCompletion {
  const { model, usage } = reply;
  const answer = withCalls(
    mode === 'prefill' ? readScript(request, stopped(reply, givenStops(request)), idFor) : readChat(request, reply),
    maxToolCalls,
  );
  const completion: LlmCompletion = { ...answer, usage, model, provider, mode };
  if (request.output === undefined) return completion;
  return { ...completion, structured: readStructured(request.output.schema, completion) };
}

/** Limits a reply to the part that is used: its text up to `maxBytes`, with the stop reason of a length limit, and its usage. */
export function boundReply(request: LlmRequest, reply: ProviderReply, maxBytes: number): ProviderReply {
  return { ...shortened(reply, maxBytes), usage: usageOf(request, reply) };
}

const BYTES_PER_TOKEN = 4;

/** The usage of a reply. Providers report it at the end of an answer; for an answer that was not read completely, it is estimated from the read part. */
function usageOf(request: LlmRequest, reply: ProviderReply): Usage {
  const { usage, stopReason, content } = reply;
  const isUsageMissing = stopReason === 'max_tokens' && usage.outputTokens === 0;
  const readBytes = reply.cutAfterBytes ?? (isUsageMissing ? textBytes(content) : 0);
  if (readBytes === 0) return usage;
  const outputTokens = Math.max(usage.outputTokens, Math.ceil(readBytes / BYTES_PER_TOKEN));
  const isPromptKnown = tokensOf({ ...usage, outputTokens: 0 }) > 0;
  return { ...usage, outputTokens, inputTokens: isPromptKnown ? usage.inputTokens : estimatePromptTokens(request) };
}

function textBytes(content: ProviderReply['content']): number {
  return content.reduce((sum, block) => sum + (block.type === 'text' ? Buffer.byteLength(block.text) : 0), 0);
}

function shortened(reply: ProviderReply, maxBytes: number): ProviderReply {
  let left = maxBytes;
  let isCut = false;
  const content = reply.content.map((block) => {
    if (block.type !== 'text') return block;
    const text = beginningOf(block.text, left);
    left -= Buffer.byteLength(text);
    isCut ||= text !== block.text;
    return { ...block, text };
  });
  return isCut ? { ...reply, content, stopReason: 'max_tokens' } : reply;
}

type Answer = Pick<LlmCompletion, 'content' | 'stopReason' | 'droppedCalls'>;

/** The answer with its first `most` calls. */
function withCalls(answer: Answer, most: number): Answer {
  const calls = answer.content.filter(({ type }) => type !== 'text');
  if (calls.length <= most) return answer;
  const dropped = new Set(calls.slice(most));
  return { ...answer, content: answer.content.filter((block) => !dropped.has(block)), droppedCalls: dropped.size };
}

/** Applies the stop sequences to a reply: providers accept a limited number of them. */
function stopped(reply: ProviderReply, stops: readonly string[]): ProviderReply {
  const content = untilStop(reply.content, stops);
  return content === undefined ? reply : { ...reply, content, stopReason: 'stop_sequence' };
}

function readChat({ self, stopSequences = [], output }: LlmRequest, reply: ProviderReply): Answer {
  const { content, stopReason } = output === undefined ? stopped(reply, stopSequences) : reply;
  const named = content.map((block, index) =>
    block.type === 'text' && index === 0 ? { ...block, text: withoutOwnName(block.text, self) } : block,
  );
  return { content: named.filter((block) => block.type !== 'text' || block.text.trim() !== ''), stopReason };
}

function readScript(request: LlmRequest, { content, stopReason }: ProviderReply, idFor: () => string): Answer {
  const raw = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const answer = createAnswerReader(request).read(raw, () => `call_${idFor()}`);
  if (answer.calls.length > 0 && stopReason !== 'refusal')
    return { content: contentOf(answer), stopReason: 'tool_use' };
  return { content: contentOf(answer), stopReason: answer.cut ? 'stop_sequence' : stopReason };
}

// Some models begin with their own name, since the transcript names every speaker.
function withoutOwnName(text: string, self: string): string {
  const start = text.trimStart();
  return start.startsWith(`${self}:`) ? start.slice(self.length + 1).trimStart() : text;
}

function readStructured(schema: z.ZodObject, { content, stopReason }: LlmCompletion): unknown {
  const text = content
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('')
    .trim();
  if (stopReason === 'refusal') throw malformed(text || 'it declined to answer');
  if (stopReason === 'max_tokens') throw malformed('the answer was cut off before its end');
  // Servers without structured output tend to wrap JSON in a fence.
  const json = /^```(?:json)?[ \t\r]*\n([\s\S]*)\n```$/.exec(text)?.[1] ?? text;
  const parsed = schema.safeParse(parse(json));
  if (!parsed.success) throw malformed(z.prettifyError(parsed.error));
  return parsed.data;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw malformed('it is not JSON');
  }
}

function malformed(detail: string): CinnabarError {
  return new CinnabarError('CINNABAR_LLM_MALFORMED', { detail });
}
