import type { ToolContent } from '@cinnabar/sdk';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** The result of a call as text for models and people, and its media. */
export interface ImportedResult {
  readonly text: string;
  readonly content: readonly ToolContent[];
}

/** Maximum size of all images and sounds of one result together. */
const MOST_MEDIA_BYTES = 5 * 1024 * 1024;

type Block = CallToolResult['content'][number];

/** Converts a server's result of any content kinds, and limits its size. */
export function readResult({ content, structuredContent }: CallToolResult): ImportedResult {
  const blocks = withinLimits(content.map(toContent));
  const said = blocks.map(describe).join('\n');
  const onlyData = said.trim() === '' && structuredContent !== undefined;
  // The blocks are within the limit; the factor leaves space for the notes.
  const text = onlyData ? cutText(JSON.stringify(structuredContent)) : cutText(said, 2 * MOST_TEXT_BYTES);
  return { text, content: onlyData ? [{ type: 'text', text }] : blocks };
}

function toContent(block: Block): ToolContent {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: block.type, data: block.data, mimeType: block.mimeType };
    case 'resource': {
      const { uri, mimeType } = block.resource;
      const body = 'text' in block.resource ? { text: block.resource.text } : { blob: block.resource.blob };
      return { type: 'resource', resource: { uri, ...(mimeType === undefined ? {} : { mimeType }), ...body } };
    }
    case 'resource_link': {
      const { uri, name, description, mimeType } = block;
      return {
        type: 'resource_link',
        uri,
        name,
        ...(description === undefined ? {} : { description }),
        ...(mimeType === undefined ? {} : { mimeType }),
      };
    }
  }
}

/** Cuts long texts, and replaces media that are too large by a note. */
function withinLimits(blocks: readonly ToolContent[]): readonly ToolContent[] {
  let text = MOST_TEXT_BYTES;
  let media = MOST_MEDIA_BYTES;
  const cut = (whole: string) => {
    const kept = cutText(whole, Math.max(0, text));
    text -= Buffer.byteLength(whole);
    return kept;
  };
  return blocks.map((block) => {
    if (block.type === 'text') return { ...block, text: cut(block.text) };
    if (block.type === 'resource' && block.resource.text !== undefined) {
      return { ...block, resource: { ...block.resource, text: cut(block.resource.text) } };
    }
    media -= bytesOf(block);
    return media < 0 && bytesOf(block) > 0
      ? { type: 'text', text: `${describe(block)} (left out: a result may hold ${sizeOf(MOST_MEDIA_BYTES)} of them)` }
      : block;
  });
}

/** One block as text; for media, a note. */
function describe(block: ToolContent): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return `[link: ${block.name} ${block.uri}]${block.description === undefined ? '' : ` ${block.description}`}`;
    case 'resource': {
      const { uri, mimeType, text } = block.resource;
      const kind = mimeType === undefined ? '' : `, ${mimeType}`;
      return text === undefined
        ? `[resource: ${uri}${kind}, ${sizeOf(bytesOf(block))}]`
        : `[resource: ${uri}${kind}]\n${text}`;
    }
    default:
      return `[${block.type}: ${block.mimeType}, ${sizeOf(bytesOf(block))}]`;
  }
}

function bytesOf(block: ToolContent): number {
  const base64 = block.type === 'resource' ? (block.resource.blob ?? '') : 'data' in block ? block.data : '';
  return Math.floor((base64.length * 3) / 4);
}

/** Maximum size of the text of one result: more would displace everything else in a model's context. */
const MOST_TEXT_BYTES = 100 * 1024;

/** The text, or its beginning with a note on how much is missing. */
export function cutText(text: string, mostBytes = MOST_TEXT_BYTES): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= mostBytes) return text;
  // An incomplete character is removed.
  const kept = Buffer.from(text)
    .subarray(0, mostBytes)
    .toString()
    .replace(/\uFFFD$/, '');
  return `${kept}\n… (cut: ${sizeOf(bytes - mostBytes)} of ${sizeOf(bytes)} are left out)`;
}

/** A size for people: `900 bytes`, `12 KB`, `3.4 MB`. */
function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
