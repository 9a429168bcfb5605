import { createTestHost } from '@cinnabar/core/testing';
import { Llm, type LlmCompletion, type ModelTool } from '@cinnabar/sdk';
import { ask, from } from './harness.js';

/** A call that the offline model derives from a sentence. */
interface OfflineCall {
  readonly name: string;
  readonly input: unknown;
}

/** The model's calls, and its text instead of calls. */
export function readingOf({ content }: Pick<LlmCompletion, 'content'>) {
  const calls = content.flatMap((block): OfflineCall[] =>
    block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [],
  );
  return { calls, text: content.map((block) => (block.type === 'text' ? block.text : '')).join('') };
}

/** The model's interpretation of a message to `Cinnabar`. */
export async function readBy(llm: Llm, said: string, tools: readonly ModelTool[]) {
  return readingOf(await llm.complete(ask([from('Alice', said)], { tools })));
}

/** The offline model, which answers when no other is configured. */
export async function openOffline() {
  const host = await createTestHost({ plugins: ['llm'] });
  return { llm: host.resolve(Llm), [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}
