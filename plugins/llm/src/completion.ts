import { CinnabarError, type LlmCompletion, type LlmRequest, type Usage } from '@cinnabar/sdk';
import { z } from 'zod';
import { contentOf, createAnswerReader } from './prefill/answer.js';
import type { Mode, ProviderReply } from './providers/provider.js';
import { beginningOf } from './streaming/bounded.js';

/**
 * The provider's reply as the caller's completion: its own name in front taken off, written calls read, structured output checked.
 * @param idFor makes ids for the calls that a model has written into its text
 * @param maxBytes a longer text ends there, as at its length limit
 */
export function finishCompletion(
  request: LlmRequest,
  provider: string,
  reply: ProviderReply,
  mode: Mode,
  idFor: () => string,
  maxBytes = Number.POSITIVE_INFINITY,
): LlmCompletion {
  const { model } = reply;
  const read = shortened(reply, maxBytes);
  const usage = read.stopReason === 'max_tokens' ? known(read.usage, request, read.content) : read.usage;
  const answer = mode === 'prefill' ? readScript(request, read, idFor) : readChat(request, read);
  const completion: LlmCompletion = { ...answer, usage, model, provider, mode };
  if (request.output === undefined) return completion;
  return { ...completion, structured: readStructured(request.output.schema, completion) };
}

const CHARACTERS_PER_TOKEN = 4;

/** Providers tell what an answer took at its end: of one that was not read to its end it is estimated. */
function known(usage: Usage, { system = '', messages }: LlmRequest, said: LlmCompletion['content']): Usage {
  if (usage.outputTokens > 0) return usage;
  const asked = messages.flatMap(({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')));
  const answered = said.map((block) => (block.type === 'text' ? block.text : ''));
  const tokens = (texts: readonly string[]) =>
    Math.ceil(texts.reduce((sum, { length }) => sum + length, 0) / CHARACTERS_PER_TOKEN);
  const inputTokens = usage.inputTokens > 0 ? usage.inputTokens : tokens([system, ...asked]);
  return { ...usage, inputTokens, outputTokens: tokens(answered) };
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

type Answer = Pick<LlmCompletion, 'content' | 'stopReason'>;

function readChat({ self }: LlmRequest, { content, stopReason }: ProviderReply): Answer {
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

// The transcript names every speaker, and some models then name themselves.
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
