import { z } from 'zod';

const tokens = z.number().int().min(0).max(100_000_000);
const dollars = z.number().min(0).max(100_000);

/** What an admin may put right about a model: the table ages faster than the program. */
export const MODEL_CORRECTION = z.strictObject({
  modes: z
    .array(z.enum(['chat', 'prefill']))
    .min(1)
    .exactOptional(),
  images: z.boolean().exactOptional(),
  contextTokens: tokens.exactOptional(),
  cache: z
    .strictObject({
      kind: z.enum(['explicit', 'automatic', 'none']).exactOptional(),
      breakpoints: z.number().int().min(0).max(4).exactOptional(),
      minTokens: tokens.exactOptional(),
      ttls: z.array(z.enum(['5m', '1h'])).exactOptional(),
      lookBackBlocks: z.number().int().min(0).max(1000).exactOptional(),
    })
    .exactOptional(),
  price: z
    .strictObject({
      input: dollars,
      output: dollars,
      cacheRead: dollars.exactOptional(),
      cacheWrite5m: dollars.exactOptional(),
      cacheWrite1h: dollars.exactOptional(),
    })
    .exactOptional(),
});

/** By model; a name that ends in `*` stands for all that begin so. */
export type ModelCorrections = Readonly<Record<string, z.output<typeof MODEL_CORRECTION>>>;

/** The correction that fits a model best: its own name, else the longest beginning. */
export function correctionFor(corrections: ModelCorrections, model: string): z.output<typeof MODEL_CORRECTION> {
  const own = Object.hasOwn(corrections, model) ? corrections[model] : undefined;
  if (own !== undefined) return own;
  const [longest] = Object.keys(corrections)
    .filter((name) => name.endsWith('*') && model.startsWith(name.slice(0, -1)))
    .sort((one, other) => other.length - one.length);
  return longest === undefined ? {} : (corrections[longest] ?? {});
}
