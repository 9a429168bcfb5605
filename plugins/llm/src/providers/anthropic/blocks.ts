import type Anthropic from '@anthropic-ai/sdk';
import type { CacheControl, ImageContent } from '@cinnabar/sdk';
import type { CallResult, Part, Turn } from '../../transcript/turns.js';
import type { Breakpoint } from './breakpoints.js';

/** A content block, and the mark at its end. The API forbids none of these to be marked. */
export interface MarkedBlock {
  readonly block:
    | Anthropic.TextBlockParam
    | Anthropic.ImageBlockParam
    | Anthropic.ToolUseBlockParam
    | Anthropic.ToolResultBlockParam;
  readonly cache: CacheControl | undefined;
}

export interface MarkedMessage {
  readonly role: 'user' | 'assistant';
  readonly blocks: MarkedBlock[];
}

/** Results and what people say after them are one user message; otherwise each turn is a message. */
export function toMessages(turns: readonly Turn[]): readonly MarkedMessage[] {
  const messages: MarkedMessage[] = [];
  for (const turn of turns) {
    const role = turn.role === 'assistant' ? 'assistant' : 'user';
    const last = messages.at(-1);
    if (last?.role === role) last.blocks.push(...toBlocks(turn));
    else messages.push({ role, blocks: [...toBlocks(turn)] });
  }
  return messages;
}

/** Sets the breakpoints, one for each block. A lone text is written as a plain string, which means the same. */
export function withBreakpoints(
  messages: readonly MarkedMessage[],
  breakpoints: readonly (Breakpoint | undefined)[],
): Anthropic.MessageParam[] {
  let place = 0;
  return messages.map(({ role, blocks }) => {
    const content = blocks.map(({ block }) => {
      const breakpoint = breakpoints[place++];
      return breakpoint === undefined ? block : { ...block, cache_control: breakpoint };
    });
    return { role, content: plain(content) };
  });
}

/** A part as a block. */
export function toBlock(part: Part): Anthropic.TextBlockParam | Anthropic.ImageBlockParam {
  return part.type === 'text' ? { type: 'text', text: part.text } : { type: 'image', source: toSource(part.source) };
}

function toBlocks(turn: Turn): readonly MarkedBlock[] {
  if (turn.role === 'user') return turn.parts.map((part) => ({ block: toBlock(part), cache: part.cache }));
  if (turn.role === 'results')
    return turn.results.map((result, index) => markIf(toResult(result), turn.results.length - 1 === index, turn.cache));
  return [
    ...turn.texts.map(({ text, cache }) => ({ block: { type: 'text' as const, text }, cache })),
    ...turn.calls.map(({ id, name, input }, index) =>
      markIf({ type: 'tool_use', id, name, input: { ...input } }, turn.calls.length - 1 === index, turn.cache),
    ),
  ];
}

function markIf(block: MarkedBlock['block'], isLast: boolean, cache: CacheControl | undefined): MarkedBlock {
  return { block, cache: isLast ? cache : undefined };
}

function toResult({ id, parts, isError }: CallResult): Anthropic.ToolResultBlockParam {
  const content = plain(parts.map(toBlock));
  return { type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true } : {}) };
}

function plain<B extends MarkedBlock['block']>(blocks: B[]): string | B[] {
  const [only, ...more] = blocks;
  const bare = only?.type === 'text' && more.length === 0 && only.cache_control === undefined;
  return bare ? only.text : blocks;
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
