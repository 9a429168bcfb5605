import type Anthropic from '@anthropic-ai/sdk';
import type { ImageContent } from '@cinnabar/sdk';
import type { Part, Turn } from '../../transcript/turns.js';

type Block = Anthropic.ContentBlockParam;

const BREAKPOINT = { cache_control: { type: 'ephemeral' as const } };
const MAX_BREAKPOINTS = 4;

/** A turn's content blocks, with a cache breakpoint where the caller marked one. */
export function toBlocks(turn: Turn): readonly Block[] {
  if (turn.role === 'user') return turn.parts.map((part) => ({ ...toBlock(part), ...(part.cache ? BREAKPOINT : {}) }));
  const blocks = turn.role === 'results' ? turn.results.map(toResult) : toAssistantBlocks(turn.text, turn.calls);
  return turn.cache ? markLast(blocks) : blocks;
}

/** A message with its content always as blocks. */
export interface BlockMessage {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

/** The API allows four breakpoints: the latest are worth most, since each covers everything before it. */
export function limitBreakpoints(messages: readonly BlockMessage[]): BlockMessage[] {
  const marked = messages.flatMap(({ content }) => content.filter((block) => 'cache_control' in block));
  const surplus = new Set(marked.slice(0, -MAX_BREAKPOINTS));
  return messages.map(({ role, content }) => ({
    role,
    content: content.map((block) => (surplus.has(block) ? { ...block, cache_control: null } : block)),
  }));
}

function toAssistantBlocks(text: string, calls: Extract<Turn, { role: 'assistant' }>['calls']): readonly Block[] {
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ id, name, input }) => ({ type: 'tool_use' as const, id, name, input: { ...input } })),
  ];
}

function toResult({ id, parts, isError }: Extract<Turn, { role: 'results' }>['results'][number]): Block {
  const content = parts.map(toBlock);
  return { type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true } : {}) };
}

function toBlock(part: Part): Anthropic.TextBlockParam | Anthropic.ImageBlockParam {
  return part.type === 'text' ? { type: 'text', text: part.text } : { type: 'image', source: toSource(part.source) };
}

function toSource({ type, data, mediaType }: ImageContent['source']): Anthropic.ImageBlockParam['source'] {
  if (type === 'url') return { type: 'url', url: data };
  return { type: 'base64', data, media_type: toMediaType(mediaType.toLowerCase()) };
}

// The image rule has let no other type through.
function toMediaType(mediaType: string): Anthropic.Base64ImageSource['media_type'] {
  return mediaType === 'image/png' || mediaType === 'image/gif' || mediaType === 'image/webp'
    ? mediaType
    : 'image/jpeg';
}

function markLast(blocks: readonly Block[]): readonly Block[] {
  const last = blocks.at(-1);
  return last === undefined || last.type === 'thinking' || last.type === 'redacted_thinking'
    ? blocks
    : [...blocks.slice(0, -1), { ...last, ...BREAKPOINT }];
}
