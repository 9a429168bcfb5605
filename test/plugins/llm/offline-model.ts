import { createTestHost } from '@cinnabar/core/testing';
import { Llm, type LlmCompletion, type ModelTool } from '@cinnabar/sdk';
import { ask, from } from './bench.js';

/** A call that the offline model makes of a sentence. */
export interface OfflineCall {
  readonly name: string;
  readonly input: unknown;
}

/** What it calls, and what it says instead. */
export function readingOf({ content }: Pick<LlmCompletion, 'content'>) {
  const calls = content.flatMap((block): OfflineCall[] =>
    block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [],
  );
  return { calls, text: content.map((block) => (block.type === 'text' ? block.text : '')).join('') };
}

/** What the model makes of a sentence that is said to `Cinnabar`. */
export async function readBy(llm: Llm, said: string, tools: readonly ModelTool[]) {
  return readingOf(await llm.complete(ask([from('Alice', said)], { tools })));
}

/** The offline model, which answers where no other is connected. */
export async function openOffline() {
  const host = await createTestHost({ plugins: ['llm'] });
  return { llm: host.resolve(Llm), [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}
