import type { ContentBlock, ParticipantMessage, TextFile } from '@cinnabar/sdk';
import type { CachedImage, HistoryMessage } from '../../history/types.js';
import { estimateMessage } from '../tokens.js';
import type { MentionNames, ToolRecord } from '../types.js';
import { attachmentKey, type Shown } from './attachments.js';
import type { Entry } from './entries.js';
import { readable } from './mentions.js';
import { callsAndResults, placeRecords } from './records.js';
import { textOf, type Wording } from './text.js';

/** One message of the request, and what is needed to count and compare it. */
export interface Line {
  readonly message: ParticipantMessage;
  readonly own: boolean;
  readonly tokens: number;
  /** Differs when the message does. */
  readonly signature: string;
}

export interface ScriptParts {
  readonly entries: readonly Entry[];
  readonly records: readonly ToolRecord[];
  readonly images: Shown<CachedImage>;
  readonly textFiles: Shown<TextFile>;
  readonly self: { readonly id: string; readonly name: string };
  readonly names: ReadonlyMap<string, string>;
  readonly mentions: MentionNames | undefined;
  /** What a message says, where that is not what was typed. */
  content(message: HistoryMessage): string;
}

/** The entries as the model reads them, calls where they were made. Each line follows from the entries up to it alone. */
export function toLines(parts: ScriptParts): readonly Line[] {
  const { entries, images, textFiles, self, names } = parts;
  const calls = placeRecords(parts.records, entries);
  const heard = new Set<string>();
  const userName = (id: string) => (id === self.id ? self.name : names.get(id));
  const wording: Wording = {
    said: (message) => readable(parts.content(message), userName, parts.mentions),
    nameOf: (speaker) => (speaker === self.id ? self.name : heard.has(speaker) ? names.get(speaker) : undefined),
    isShown: (attachment, message) => images.size > 0 && images.has(attachmentKey(message, attachment)),
    textIn: (attachment, message) =>
      textFiles.size === 0 ? undefined : textFiles.get(attachmentKey(message, attachment)),
  };
  const lines: Line[] = [];
  let previous: HistoryMessage | undefined;
  for (const [index, entry] of entries.entries()) {
    const line = spoken(entry, textOf(entry, previous, wording), parts);
    if (line !== undefined) lines.push(line);
    for (const message of callsAndResults(calls.get(index) ?? [], self.name)) lines.push(callLine(message));
    previous = entry.messages.at(-1);
    if (!entry.own) heard.add(entry.messages[0].author.speaker);
  }
  return lines;
}

function spoken(entry: Entry, text: string, { images, self, names }: ScriptParts): Line | undefined {
  const [message] = entry.messages;
  const shown = entry.own || images.size === 0 ? [] : imagesOf(message, images);
  if (text === '' && shown.length === 0) return undefined;
  const content: ContentBlock[] = text === '' ? [] : [{ type: 'text', text }];
  let signature = text;
  for (const { key, block } of shown) {
    content.push(block);
    signature += `\u0000${key}`;
  }
  const participant = entry.own ? self.name : (names.get(message.author.speaker) ?? 'someone');
  const written = { participant, content, timestamp: new Date(message.createdAt), messageId: entry.lastId };
  return {
    message: written,
    own: entry.own,
    tokens: estimateMessage(written),
    signature: `${participant}\u0000${signature}`,
  };
}

function imagesOf(message: HistoryMessage, images: Shown<CachedImage>) {
  return message.attachments.flatMap((attachment) => {
    const key = attachmentKey(message, attachment);
    const image = images.get(key);
    if (image === undefined) return [];
    const source = { type: 'base64' as const, data: image.base64, mediaType: image.mediaType };
    return [{ key: `${key}:${image.sizeBytes}`, block: { type: 'image' as const, source } }];
  });
}

function callLine(message: ParticipantMessage): Line {
  return { message, own: true, tokens: estimateMessage(message), signature: JSON.stringify(message.content) };
}
