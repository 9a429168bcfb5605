import { splitMessage } from '../text/split.js';

/** Discord's limit. */
const MESSAGE_LIMIT = 2_000;
/** Well below what Discord takes as one file. */
const FILE_BYTES = 8_000_000;

/** How much of one text becomes messages: a longer one becomes a file. */
export interface TextLimits {
  readonly messages: number;
  readonly characters: number;
}
/** What holds where nothing is set. */
export const TEXT_LIMITS: TextLimits = { messages: 8, characters: 12_000 };

/** One message of a text. */
export interface TextMessage {
  readonly content: string;
  readonly files?: { readonly name: string; readonly attachment: Buffer }[];
}

export interface TextOptions {
  readonly limits?: TextLimits;
  /** The longest message, 2,000 unless given. */
  readonly partLimit?: number;
  /** Stands before the text, and stays in the message where the text becomes a file: a mention, a heading. A line or two. */
  readonly head?: string;
  /** The same after the text. */
  readonly foot?: string;
}

/**
 * The messages in which a text is said: split without breaking code fences, or, beyond the limits, one with a sentence and all of the text as
 * a file. None for an empty text.
 * @example for (const message of textMessages(answer)) await channel.send(message);
 */
export function textMessages(
  text: string,
  { limits = TEXT_LIMITS, partLimit = MESSAGE_LIMIT, head = '', foot = '' }: TextOptions = {},
): readonly TextMessage[] {
  if (text.length > limits.characters) return [asFile(text, head, foot)];
  const parts = splitMessage(`${head}${text}${foot}`, partLimit);
  return parts.length > limits.messages ? [asFile(text, head, foot)] : parts.map((content) => ({ content }));
}

function asFile(text: string, head: string, foot: string): TextMessage {
  const bytes = Buffer.from(text);
  const length = text.length.toLocaleString('en-US');
  const what = bytes.length > FILE_BYTES ? 'its beginning is in the file' : 'all of it is in the file';
  return {
    content: `${head}This is too long for messages (${length} characters): ${what}.${foot}`,
    files: [{ name: 'answer.txt', attachment: bytes.subarray(0, FILE_BYTES) }],
  };
}
