import type { ModelPrice, ModelTraits } from '@cinnabar/sdk';
import { z } from 'zod';
import type { ProviderDefinition } from './providers/definition.js';

/**
 * The traits of a model, with the owner's corrections.
 * @param refusesPrefill whether the model has refused prefill in this process
 */
export function traitsOf(
  provider: Pick<ProviderDefinition, 'name' | 'familyOf'>,
  model: string,
  corrections: ModelCorrections = {},
  refusesPrefill = false,
): ModelTraits {
  const family = provider.familyOf(model);
  const { cache, price, modes, ...plain } = correctionFor(corrections, model);
  const known: ModelTraits = {
    provider: provider.name,
    model,
    modes: family.prefill === false || refusesPrefill ? ['chat'] : ['chat', 'prefill'],
    images: family.images,
    contextTokens: family.contextTokens,
    cache: { ...family.cache, ...cache },
    price: family.price,
  };
  return {
    ...known,
    ...plain,
    ...(modes === undefined ? {} : { modes: refusesPrefill ? ['chat'] : modes }),
    ...(price === undefined ? {} : { price: { ...price, ...cachePrices(price) } }),
  };
}

/** The prices of cached tokens. With input and output prices only, cached tokens cost as much as others. */
function cachePrices(price: NonNullable<ReturnType<typeof correctionFor>['price']>) {
  const { input, cacheRead = input, cacheWrite5m = input, cacheWrite1h = cacheWrite5m } = price;
  return { cacheRead, cacheWrite5m, cacheWrite1h };
}

const tokens = z.number().int().min(0).max(100_000_000);
const dollars = z.number().min(0).max(100_000);

/** Corrections by the owner, for models that the table in the code lacks or describes wrongly. */
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

/** By model; a name that ends in `*` matches all models with that beginning. */
type ModelCorrections = Readonly<Record<string, z.output<typeof MODEL_CORRECTION>>>;

/** The correction for a model: that of its own name, otherwise that of the longest matching beginning. */
function correctionFor(corrections: ModelCorrections, model: string): z.output<typeof MODEL_CORRECTION> {
  const own = Object.hasOwn(corrections, model) ? corrections[model] : undefined;
  if (own !== undefined) return own;
  const [longest] = Object.keys(corrections)
    .filter((name) => name.endsWith('*') && model.startsWith(name.slice(0, -1)))
    .sort((one, other) => other.length - one.length);
  return longest === undefined ? {} : (corrections[longest] ?? {});
}

/** The known traits of a family of models. */
export interface Family {
  /** Tested against the name in lower case with dots as hyphens, so that `claude-sonnet-4.5` is `claude-sonnet-4-5`. */
  readonly names: RegExp;
  readonly contextTokens: number;
  readonly images: boolean;
  readonly cache: ModelTraits['cache'];
  readonly price: ModelPrice | undefined;
  /** Whether the model continues a prefilled answer; `undefined` when only an attempt shows it. */
  readonly prefill: boolean | undefined;
}

export const NO_CACHE: ModelTraits['cache'] = {
  kind: 'none',
  breakpoints: 0,
  minTokens: 0,
  ttls: [],
  lookBackBlocks: 0,
};

export function familyOf(families: readonly Family[], model: string): Family | undefined {
  const name = model.toLowerCase().replaceAll('.', '-');
  return families.find(({ names }) => names.test(name));
}
