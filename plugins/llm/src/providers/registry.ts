import type { Clock, Random } from '@cinnabar/sdk';
import type { Source } from '../configuration.js';
import type { AnthropicSdk } from './anthropic/client.js';
import { createAnthropicProvider } from './anthropic/provider.js';
import { createOfflineProvider } from './offline/provider.js';
import { once } from './once.js';
import type { OpenAiSdk } from './openai/client.js';
import { createOpenAiProvider } from './openai/provider.js';
import type { Provider } from './provider.js';

/** How the vendors' SDKs are loaded: with the first request that needs one, and then never again. */
export interface SdkLoaders {
  openai(): Promise<OpenAiSdk>;
  anthropic(): Promise<AnthropicSdk>;
}

export const SDK_LOADERS: SdkLoaders = {
  openai: () => import('openai'),
  anthropic: () => import('@anthropic-ai/sdk'),
};

/** Finds the provider for a source. */
export function createProviders(
  clock: Clock,
  random: Random,
  loaders: SdkLoaders = SDK_LOADERS,
): (source: Source) => Provider {
  const loadOpenAi = once(loaders.openai);
  const loadAnthropic = once(loaders.anthropic);
  const offline = createOfflineProvider(random);
  return (source) => {
    switch (source.provider) {
      case 'openai':
        return createOpenAiProvider(source, loadOpenAi, clock);
      case 'anthropic':
        return createAnthropicProvider(source, loadAnthropic, clock);
      case 'offline':
        return offline;
    }
  };
}
