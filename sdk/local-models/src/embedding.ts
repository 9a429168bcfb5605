import type { FailStep, HangStep } from './steps.js';

const DIMENSIONS = 64;

/** Options for requests for embeddings. */
export interface EmbeddingOptions {
  /** The vector of a text; `wordVector` when left out. */
  readonly embed?: (text: string) => readonly number[];
  /** Outcomes of the first requests, in order; later requests are answered. A hanging request is answered after `release()`. */
  readonly embedSteps?: readonly (FailStep | HangStep)[];
}

/** One endpoint for embeddings. */
export interface EmbeddingWire {
  /** Texts and model of a request; `undefined` when it is another endpoint's. */
  match(path: string, body: unknown): EmbeddingRequest | undefined;
  reply(vectors: readonly (readonly number[])[], request: EmbeddingRequest): unknown;
}

interface EmbeddingRequest {
  readonly model: string;
  /** `undefined` for a body that the real API would refuse. */
  readonly texts: readonly string[] | undefined;
  /** Whether the numbers are requested as base64 of 32-bit floats. */
  readonly base64?: boolean;
}

/** A vector of length 1 that depends on the words of a text, but not on their order and case: texts with common words are near. */
export function wordVector(text: string): readonly number[] {
  const sums = Array.from({ length: DIMENSIONS }, () => 0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
    const at = hashOf(word) % DIMENSIONS;
    sums[at] = (sums[at] ?? 0) + 1;
  }
  const length = Math.hypot(...sums);
  return sums.map((sum) => sum / length);
}

/** The hash function FNV-1a. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (const unit of word) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}

/** A token count for the usage. */
export function tokensIn(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
}
