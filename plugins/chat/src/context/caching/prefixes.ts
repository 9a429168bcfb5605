import { createHash } from 'node:crypto';
import type { ModelTool } from '@cinnabar/sdk';
import type { Line } from '../reading/script.js';

/** A place where a prefix may end. */
export interface PrefixEnd {
  /** A message id, or `system` for the end of what stands before all messages. */
  readonly id: string;
  readonly hash: string;
  /** Tokens of the whole prefix. */
  readonly tokens: number;
}

/** What stands before the messages, each part hashed. */
export interface Before {
  readonly model: string;
  readonly tools: string;
  readonly system: string;
}

export function hashBefore(model: string, tools: readonly ModelTool[], system: string): Before {
  return { model, tools: shortHash(JSON.stringify(tools)), system: shortHash(system) };
}

/** Hashes and sizes of the prefixes that end at these messages, and of the one before all messages, in their order. */
export function prefixEnds(
  before: Before,
  beforeTokens: number,
  lines: readonly Line[],
  ids: ReadonlySet<string>,
): readonly [PrefixEnd, ...PrefixEnd[]] {
  const hash = createHash('sha256').update(`${before.model}\u0001${before.tools}\u0001${before.system}`);
  let tokens = beforeTokens;
  let unhashed = '';
  const ends: [PrefixEnd, ...PrefixEnd[]] = [{ id: 'system', hash: digest(hash), tokens }];
  for (const { message, own, signature, tokens: size } of lines) {
    unhashed += `\u0001${signature}`;
    tokens += size;
    // What the bot says next may be merged with its last words: a prefix ends with somebody else's.
    if (message.messageId === undefined || own || !ids.has(message.messageId)) continue;
    hash.update(unhashed);
    unhashed = '';
    ends.push({ id: message.messageId, hash: digest(hash), tokens });
  }
  return ends;
}

function digest(hash: ReturnType<typeof createHash>): string {
  return hash.copy().digest('base64url').slice(0, 22);
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
