import type OpenAI from 'openai';

type Chunk = OpenAI.Chat.ChatCompletionChunk;

interface GrowingCall {
  id: string;
  name: string;
  raw: string;
}

/** An answer of the Chat Completions API, whether it came whole or in pieces. */
export interface ChatAnswer {
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly Readonly<GrowingCall>[];
  /** `null` when the stream ended before the answer did. */
  readonly finishReason: string | null;
  readonly usage: OpenAI.CompletionUsage | undefined;
  readonly model: string;
}

/** What of a piece becomes part of the answer. */
export function textsOf({ choices }: Chunk): readonly (string | null | undefined)[] {
  const delta = choices?.[0]?.delta;
  return [delta?.content, delta?.refusal, ...(delta?.tool_calls ?? []).map((call) => call.function?.arguments)];
}

/** Puts the pieces of a streamed answer together. */
export async function collect(stream: AsyncIterable<Chunk>, onText?: (piece: string) => void): Promise<ChatAnswer> {
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
  // Some servers number every call 0: another id is another call.
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
