import type { ModelPrice, ModelTraits } from '@cinnabar/sdk';
import { type Family, NO_CACHE } from '../model-family.js';

/** Prefixes from 1,024 tokens on are cached in steps of 128 without being asked. */
const AUTOMATIC: ModelTraits['cache'] = {
  kind: 'automatic',
  breakpoints: 0,
  minTokens: 1024,
  ttls: [],
  lookBackBlocks: 0,
};
const CHARGES_WRITES = 1.25;

/** Models behind OpenAI's API, with the vendor's prices of November 2026. */
export const GPT: readonly Family[] = [
  gpt(/gpt-6-\d-sol/, 400_000, price(2, 0.1, 10, CHARGES_WRITES)),
  gpt(/gpt-(5-[6-9]|[6-9])/, 400_000, undefined),
  gpt(/gpt-5-5(?!-?(mini|nano|pro))/, 400_000, price(5, 0.5, 30)),
  gpt(/gpt-5-4-mini/, 400_000, price(0.75, 0.075, 4.5)),
  gpt(/gpt-5-4-nano/, 400_000, price(0.2, 0.02, 1.25)),
  gpt(/gpt-5-4(?!-?pro)/, 400_000, price(2.5, 0.25, 15)),
  gpt(/gpt-5-[23](?!-?(mini|nano|pro))/, 400_000, price(1.75, 0.175, 14)),
  gpt(/gpt-5(-1)?-mini/, 400_000, price(0.25, 0.025, 2)),
  gpt(/gpt-5-nano/, 400_000, price(0.05, 0.005, 0.4)),
  gpt(/gpt-5(-1)?(?!-\d|-?pro)/, 400_000, price(1.25, 0.125, 10)),
  gpt(/gpt-4-1-mini/, 1_000_000, price(0.4, 0.1, 1.6)),
  gpt(/gpt-4-1-nano/, 1_000_000, price(0.1, 0.025, 0.4)),
  gpt(/gpt-4-1/, 1_000_000, price(2, 0.5, 8)),
  gpt(/gpt-4o-mini/, 128_000, price(0.15, 0.075, 0.6)),
  gpt(/gpt-4o/, 128_000, price(2.5, 1.25, 10)),
  gpt(/^o3(?!-?(mini|pro))/, 200_000, price(2, 0.5, 8)),
  gpt(/^o4-mini/, 200_000, price(1.1, 0.275, 4.4)),
  gpt(/^(gpt-[45]|o[134]|chatgpt)/, 128_000, undefined),
  gpt(/^grok/, 131_072, undefined),
  gpt(/^text-embedding-3-small/, 8_191, price(0.02, 0.02, 0)),
  gpt(/^text-embedding-3-large/, 8_191, price(0.13, 0.13, 0)),
];

/** A compatible server's model, of which nothing is known but that the API lets images through. */
export const LIKE_GPT: Family = { ...gpt(/^/, 32_768, undefined), cache: NO_CACHE };

function gpt(names: RegExp, contextTokens: number, modelPrice: ModelPrice | undefined): Family {
  return { names, contextTokens, images: true, cache: AUTOMATIC, price: modelPrice, prefill: false };
}

function price(input: number, cacheRead: number, output: number, writeShare = 1): ModelPrice {
  const written = input * writeShare;
  return { input, output, cacheRead, cacheWrite5m: written, cacheWrite1h: written };
}
