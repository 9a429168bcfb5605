import type { ModelTraits } from '@cinnabar/sdk';
import type { BotConfig } from '../config/schema.js';

/** The mode that requests are made in: `prefill` only where the model takes it. */
export function modeInForce(
  { mode }: Pick<BotConfig, 'mode'>,
  { modes }: Pick<ModelTraits, 'modes'>,
): BotConfig['mode'] {
  return mode === 'prefill' && modes.includes('prefill') ? 'prefill' : 'chat';
}
