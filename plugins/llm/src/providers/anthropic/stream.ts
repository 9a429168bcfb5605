import type Anthropic from '@anthropic-ai/sdk';

/** An answer of the Messages API, whether it came whole or in pieces. */
export interface MessagesAnswer {
  readonly blocks: readonly AnswerBlock[];
  /** `null` when the stream ended before the answer did. */
  readonly stopReason: Anthropic.StopReason | null;
  readonly usage: Partial<Anthropic.Usage>;
  readonly model: string;
}

/** Thinking and whatever else the API may add is left out. */
export type AnswerBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly raw: string;
      readonly input?: unknown;
    };

type GrowingBlock = { type: 'text'; text: string } | { type: 'tool_use'; id: string; name: string; raw: string };

/** What of an event becomes part of the answer. */
export function textsOf(event: Anthropic.RawMessageStreamEvent): readonly string[] {
  if (event.type !== 'content_block_delta') return [];
  if (event.delta.type === 'text_delta') return [event.delta.text];
  return event.delta.type === 'input_json_delta' ? [event.delta.partial_json] : [];
}

/** Puts the pieces of a streamed answer together. The SDK's own helper throws on malformed tool arguments; here they stay text. */
export async function collect(
  events: AsyncIterable<Anthropic.RawMessageStreamEvent>,
  onText?: (piece: string) => void,
): Promise<MessagesAnswer> {
  const blocks = new Map<number, GrowingBlock>();
  let stopReason: Anthropic.StopReason | null = null;
  let ended = false;
  let usage: Partial<Anthropic.Usage> = {};
  let model = '';

  for await (const event of events) {
    if (event.type === 'message_start') {
      model = event.message.model;
      usage = event.message.usage ?? {};
    } else if (event.type === 'content_block_start') open(blocks, event);
    else if (event.type === 'content_block_delta') {
      grow(blocks.get(event.index), event.delta);
      if (event.delta.type === 'text_delta') onText?.(event.delta.text);
    } else if (event.type === 'message_delta') {
      stopReason = event.delta.stop_reason;
      usage = { ...usage, output_tokens: event.usage?.output_tokens ?? usage.output_tokens ?? 0 };
    } else if (event.type === 'message_stop') ended = true;
  }
  return { blocks: [...blocks.values()], stopReason: ended ? (stopReason ?? 'end_turn') : null, usage, model };
}

function open(blocks: Map<number, GrowingBlock>, event: Anthropic.RawContentBlockStartEvent): void {
  const { content_block: block, index } = event;
  if (block.type === 'text') blocks.set(index, { type: 'text', text: block.text });
  if (block.type === 'tool_use') blocks.set(index, { type: 'tool_use', id: block.id, name: block.name, raw: '' });
}

function grow(block: GrowingBlock | undefined, delta: Anthropic.RawContentBlockDelta): void {
  if (block?.type === 'text' && delta.type === 'text_delta') block.text += delta.text;
  if (block?.type === 'tool_use' && delta.type === 'input_json_delta') block.raw += delta.partial_json;
}
