import type { ContentBlock, ModelTool, ModelTraits, ParticipantMessage } from '@cinnabar/sdk';
import type { BotConfig } from '../config/keys.js';
import type { Entry, Line } from './transcript.js';

/** The start index of a window with at least `count` messages that begins with an entry; of one with fewer if it would otherwise have more than `most`. */
export function startFor(entries: readonly Entry[], count: number, most = Number.POSITIVE_INFINITY): number {
  let messages = 0;
  for (let index = entries.length - 1; index >= 0; index--) {
    const more = entries[index]?.messages.length ?? 0;
    if (messages > 0 && messages + more > most) return index + 1;
    messages += more;
    if (messages >= count) return index;
  }
  return 0;
}

/** Limits in tokens of the whole prompt. */
export interface TokenLimits {
  /** Upper limit. */
  readonly most: number;
  /** The size after the limit was exceeded: well below it, so that the window does not roll again immediately. */
  readonly target: number;
}

const SHARE_AFTER_ROLL = 0.6;

export function tokenLimits(
  {
    maxContextTokens,
    truncateToTokens,
    maxTokens,
  }: Pick<BotConfig, 'maxContextTokens' | 'truncateToTokens' | 'maxTokens'>,
  { contextTokens }: Pick<ModelTraits, 'contextTokens'>,
): TokenLimits {
  const most = Math.max(1, Math.min(maxContextTokens, contextTokens - maxTokens));
  return { most, target: Math.min(truncateToTokens, Math.floor(most * SHARE_AFTER_ROLL)) };
}

/** The number of newest messages to keep so that their lines have at most `tokens`; at least one. */
export function messagesWithin(lines: readonly Line[], entries: readonly Entry[], tokens: number): number {
  const first = firstWithin(lines, tokens);
  const from = entries.findIndex(({ lastId }) => lastId === first);
  return entries.slice(from < 0 ? -1 : from).reduce((sum, { messages }) => sum + messages.length, 0);
}

/** Id of the first message from which on the lines fit. */
function firstWithin(lines: readonly Line[], tokens: number): string | undefined {
  let left = tokens;
  let first: string | undefined;
  for (const { tokens: size, message } of lines.toReversed()) {
    left -= size;
    if (left < 0) return first;
    first = message.messageId ?? first;
  }
  return first;
}

/** Shows only the end of the last message if even that is too long. */
export function shortened(lines: readonly Line[], tokens: number): readonly Line[] {
  const total = lines.reduce((sum, line) => sum + line.tokens, 0);
  const last = lines.findLast(({ message }) => message.messageId !== undefined);
  return total <= tokens || last === undefined ? lines : [cut(last, tokens)];
}

/** Keeps half of what would fit on average, because the end of a text may have more tokens than its beginning. */
function cut(line: Line, tokens: number): Line {
  const share = Math.min(1, (tokens / line.tokens) * 0.5);
  const text = line.message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const content = [{ type: 'text' as const, text: `[…] ${text.slice(text.length * (1 - share))}`.trimEnd() }];
  const message = { ...line.message, content };
  return { ...line, message, tokens: estimateMessage(message), signature: JSON.stringify(content) };
}

/** Overhead of a message: the name, the line break, sometimes a change of roles. */
const PER_MESSAGE = 4;
const PER_CALL = 12;
/** Providers scale images down to about this many tokens at most. */
const PER_IMAGE = 1_600;

/** Tokens per character; slightly more than tokenizers count, so that limits are kept. */
const WORDS = 0.28;
const OTHER_ALPHABETS = 0.6;
const IDEOGRAPHS = 1.1;
const SIGNS = 0.5;
const SURROGATES = 1.2;

/** Tokens per ASCII character: digits and signs take more than letters and the space. */
const ASCII = Float64Array.from({ length: 128 }, (_, code) =>
  /[a-z ]/i.test(String.fromCharCode(code)) ? WORDS : SIGNS,
);

/** A fast estimate of tokens that depends on the script. Deterministic. */
export function estimateText(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    tokens += ASCII[code] ?? costOf(code);
  }
  return Math.ceil(tokens);
}

function costOf(code: number): number {
  if (code < 0x0300) return SIGNS;
  if (code < 0x2e80) return OTHER_ALPHABETS;
  return code >= 0xd800 && code <= 0xdfff ? SURROGATES : IDEOGRAPHS;
}

export function estimateMessage({ participant, content }: ParticipantMessage): number {
  return content.reduce((sum, block) => sum + estimateBlock(block), PER_MESSAGE + estimateText(participant));
}

function estimateBlock(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
      return estimateText(block.text);
    case 'image':
      return PER_IMAGE;
    case 'tool_use':
      return PER_CALL + estimateText(block.name) + estimateText(JSON.stringify(block.input));
    case 'tool_result': {
      const { content } = block;
      if (typeof content === 'string') return PER_CALL + estimateText(content);
      return content.reduce((sum, part) => sum + estimateBlock(part), PER_CALL);
    }
  }
}

export function estimateTools(tools: readonly ModelTool[]): number {
  return tools.length === 0 ? 0 : estimateText(JSON.stringify(tools));
}
