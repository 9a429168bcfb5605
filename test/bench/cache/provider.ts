/** A model of Anthropic's prompt cache, according to its documentation: exact prefixes, look-back, time to live renewed by each use. */

export type Ttl = '5m' | '1h';
const TTL_MS: Readonly<Record<Ttl, number>> = { '5m': 5 * 60_000, '1h': 60 * 60_000 };
const MAX_BREAKPOINTS = 4;
const LOOK_BACK_BLOCKS = 20;
const MIN_TOKENS = 1024;

/** Content blocks of a request; 0 is the system prompt. */
export interface Prompt {
  readonly blocks: number;
  /** Equal for two prompts if and only if they are equal up to that block. */
  keyOf(block: number): string | number;
  /** Number of tokens up to the end of that block. */
  tokensTo(block: number): number;
  /** Block indices in ascending order. */
  readonly breakpoints: readonly { readonly block: number; readonly ttl: Ttl }[];
}

export interface Billed {
  readonly fresh: number;
  readonly read: number;
  readonly written5m: number;
  readonly written1h: number;
}

/** A token count slightly above that of tokenizers for English. */
export const tokensOf = (text: string): number => Math.ceil(text.length * 0.28);

/** Includes the name and the separator from the previous message. */
export const tokensOfMessage = (participant: string, text: string): number =>
  4 + tokensOf(participant) + tokensOf(text);

/** The cost of a prompt in tokens of fresh input. */
export function costOf({ fresh, read, written5m, written1h }: Billed): number {
  return fresh + 0.1 * read + 1.25 * written5m + 2 * written1h;
}

interface PromptCache {
  /** @throws Error for breakpoints that the API would refuse */
  send(prompt: Prompt, now: number): Billed;
}

export function createPromptCache(): PromptCache {
  const entries = new Map<string | number, { readonly ttl: Ttl; expiresAt: number }>();

  const heldAt = (prompt: Prompt, block: number, now: number) => {
    const entry = entries.get(prompt.keyOf(block));
    return entry !== undefined && entry.expiresAt > now ? entry : undefined;
  };

  /** The last block of the longest cached prefix, or -1. Each breakpoint looks back a limited number of blocks. */
  const longestHit = (prompt: Prompt, now: number): number => {
    for (const { block } of prompt.breakpoints.toReversed()) {
      for (let at = block; at >= 0 && block - at < LOOK_BACK_BLOCKS; at--) if (heldAt(prompt, at, now)) return at;
    }
    return -1;
  };

  return {
    send(prompt, now) {
      assertAllowed(prompt);
      const hit = longestHit(prompt, now);
      const read = hit < 0 ? 0 : prompt.tokensTo(hit);
      for (const block of [hit, ...prompt.breakpoints.map((breakpoint) => breakpoint.block)]) {
        const entry = block >= 0 && block <= hit ? heldAt(prompt, block, now) : undefined;
        if (entry !== undefined) entry.expiresAt = now + TTL_MS[entry.ttl];
      }
      const written = { '5m': 0, '1h': 0 };
      let end = read;
      for (const { block, ttl } of prompt.breakpoints) {
        const tokens = prompt.tokensTo(block);
        if (block <= hit || tokens < MIN_TOKENS) continue;
        written[ttl] += tokens - end;
        end = tokens;
        entries.set(prompt.keyOf(block), { ttl, expiresAt: now + TTL_MS[ttl] });
      }
      const fresh = prompt.tokensTo(prompt.blocks - 1) - end;
      return { fresh, read, written5m: written['5m'], written1h: written['1h'] };
    },
  };
}

function assertAllowed({ breakpoints }: Prompt): void {
  if (breakpoints.length > MAX_BREAKPOINTS) throw new Error(`${breakpoints.length} breakpoints`);
  const firstShort = breakpoints.findIndex(({ ttl }) => ttl === '5m');
  if (firstShort >= 0 && breakpoints.slice(firstShort).some(({ ttl }) => ttl === '1h')) {
    throw new Error('an entry of an hour after one of five minutes');
  }
}
