import type { ModelTraits, OwnerNotices } from '@cinnabar/sdk';
import type { EffectiveConfig } from '../config/types.js';
import { modeInForce } from '../context/mode.js';

export type TellPrefill = ReturnType<typeof createPrefillNotices>;

/** Tells the owners that `mode: prefill` is set for a model without it, once for each model. */
export function createPrefillNotices(notices: OwnerNotices) {
  const told = new Set<string>();
  return ({ config, origin }: EffectiveConfig, traits: ModelTraits): void => {
    const model = `${traits.provider}/${traits.model}`;
    if (config.mode === modeInForce(config, traits) || told.has(model)) return;
    told.add(model);
    notices.alert({
      kind: 'prefill-unavailable',
      text: `\`mode: prefill\` is set (${origin.mode ?? 'default'}), but the model ${traits.model} does not take it, so mode \`chat\` is used.`,
      remedy:
        'Set `mode: chat`, or choose a model that takes prefill. `!ai status` shows the mode in force in a channel.',
    });
  };
}
