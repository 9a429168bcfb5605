import { CinnabarError, type LlmCompletion, type LlmRequest } from '@cinnabar/sdk';
import { z } from 'zod';
import type { ProviderReply } from './providers/provider.js';

/** The provider's reply as the caller's completion: its own name in front taken off, structured output read and checked. */
export function finishCompletion(request: LlmRequest, provider: string, reply: ProviderReply): LlmCompletion {
  const content = reply.content
    .map((block, index) =>
      block.type === 'text' && index === 0 ? { ...block, text: withoutOwnName(block.text, request.self) } : block,
    )
    .filter((block) => block.type !== 'text' || block.text.trim() !== '');
  const { stopReason, usage, model } = reply;
  const completion: LlmCompletion = { content, stopReason, usage, model, provider, mode: 'chat' };
  if (request.output === undefined) return completion;
  return { ...completion, structured: readStructured(request.output.schema, completion) };
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
  const json = /^```(?:json)?\s*\n([\s\S]*)\n```$/.exec(text)?.[1] ?? text;
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
