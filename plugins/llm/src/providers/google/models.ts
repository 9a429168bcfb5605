import type { ModelPrice, ModelTraits } from '@cinnabar/sdk';
import { type Family, NO_CACHE } from '../model-family.js';

/** Google's models, with the vendor's prices of November 2026 for prompts of up to 200,000 tokens. */
export const GEMINI: readonly Family[] = [
  gemini(/gemini-3-8-flash/, 4096, price(0.75, 0.075, 3.75)),
  gemini(/gemini-2-5-flash-lite/, 1024, price(0.1, 0.01, 0.4)),
  gemini(/gemini-2-5-flash/, 1024, price(0.3, 0.03, 2.5)),
  gemini(/gemini-2-5-pro/, 4096, price(1.25, 0.125, 10)),
  gemini(/gemini-embedding-001/, 0, price(0.15, 0.15, 0)),
  gemini(/gemini-[3-9]/, 4096, undefined),
];

/** Older models cache nothing by themselves. */
export const LIKE_GEMINI: Family = { ...gemini(/^/, 0, undefined), cache: NO_CACHE };

function gemini(names: RegExp, minTokens: number, modelPrice: ModelPrice | undefined): Family {
  const cache: ModelTraits['cache'] = { kind: 'automatic', breakpoints: 0, minTokens, ttls: [], lookBackBlocks: 0 };
  return { names, contextTokens: 1_048_576, images: true, cache, price: modelPrice, prefill: false };
}

function price(input: number, cacheRead: number, output: number): ModelPrice {
  return { input, output, cacheRead, cacheWrite5m: input, cacheWrite1h: input };
}
