import { CinnabarError, type ContentBlock, type LlmCompletion, type LlmRequest, type Usage } from '@cinnabar/sdk';
import { z } from 'zod';
import type { PromptView } from './prompt.js';
import type { ReplyStep, ScriptedCall } from './steps.js';
import { rawArguments, readJson } from './wire.js';

const OBJECT = z.record(z.string(), z.unknown());

/** What a normalized request says, in the terms of a script. */
export function promptOf(request: LlmRequest): PromptView {
  const spoken = request.messages.filter(
    (message) => textOf(message.content) !== '' && message.participant !== request.self,
  );
  const last = request.messages.findLast((message) => !message.content.every(isEmptyText));
  return {
    model: request.model ?? 'scripted',
    system: request.system ?? '',
    text: textOf(spoken.at(-1)?.content ?? []),
    tools: (request.tools ?? []).map((tool) => tool.name),
    results: (last?.content ?? []).flatMap((block) =>
      block.type === 'tool_result' ? [typeof block.content === 'string' ? block.content : textOf(block.content)] : [],
    ),
  };
}

/** A scripted reply as a completion, with `structured` validated as a provider would. */
export function toCompletion(request: LlmRequest, step: ReplyStep, serial: number): LlmCompletion {
  const calls = (step.calls ?? []).map((call, index) => toContent(call, `call_${serial}_${index}`));
  const text = step.text === undefined ? [] : [{ type: 'text' as const, text: step.text }];
  return {
    content: [...text, ...calls],
    stopReason: step.stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn'),
    usage: usageOf(step),
    model: 'scripted',
    provider: 'scripted',
    mode: request.mode ?? 'chat',
    ...(request.output === undefined ? {} : { structured: structured(request.output.schema, step.text ?? '') }),
  };
}

export function usageOf({ usage = { inputTokens: 10, outputTokens: 5 } }: ReplyStep): Usage {
  const cached = (usage.cacheReadTokens ?? 0) + (usage.cacheCreationTokens ?? 0);
  return { ...usage, inputTokens: usage.inputTokens - cached };
}

function toContent(call: ScriptedCall, madeUpId: string): LlmCompletion['content'][number] {
  const id = call.id ?? madeUpId;
  const raw = rawArguments(call);
  const input = OBJECT.safeParse(readJson(raw));
  return input.success
    ? { type: 'tool_use', id, name: call.name, input: input.data }
    : { type: 'malformed_tool_use', id, name: call.name, raw, reason: 'the arguments are not a JSON object' };
}

function structured(schema: z.ZodObject, text: string): unknown {
  const parsed = schema.safeParse(readJson(text));
  if (!parsed.success) throw new CinnabarError('CINNABAR_LLM_MALFORMED', { detail: z.prettifyError(parsed.error) });
  return parsed.data;
}

function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function isEmptyText(block: ContentBlock): boolean {
  return block.type === 'text' && block.text.trim() === '';
}
