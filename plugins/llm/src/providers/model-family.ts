import type { ModelPrice, ModelTraits } from '@cinnabar/sdk';

/** What is known of a family of models. Everything but the pattern may be left open. */
export interface Family {
  /** Tested against the name in lower case with dots as hyphens, so that `claude-sonnet-4.5` is `claude-sonnet-4-5`. */
  readonly names: RegExp;
  readonly contextTokens: number;
  readonly images: boolean;
  readonly cache: ModelTraits['cache'];
  readonly price: ModelPrice | undefined;
  /** Whether the model goes on with an answer that has been begun for it; `undefined` when only trying will tell. */
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
