import type { Clock, Random } from '@cinnabar/sdk';
import type { Source } from '../vendors/source.js';
import { ANTHROPIC, type AnthropicSdk, createAnthropicProvider } from './anthropic/provider.js';
import { BEDROCK, type BedrockSdk, createBedrockProvider } from './bedrock/provider.js';
import { createGoogleProvider, GOOGLE, type GoogleSdk } from './google/provider.js';
import { createOfflineProvider, OFFLINE } from './offline/provider.js';
import { createOpenAiProvider, OPENAI, type OpenAiSdk } from './openai/provider.js';
import { once, type Provider, type ProviderDefinition } from './provider.js';

/** How the vendors' SDKs are loaded: with the first request that needs one, and then never again. */
export interface SdkLoaders {
  openai(): Promise<OpenAiSdk>;
  anthropic(): Promise<AnthropicSdk>;
  bedrock(): Promise<BedrockSdk>;
  google(): Promise<GoogleSdk>;
}

export const SDK_LOADERS: SdkLoaders = {
  openai: () => import('openai'),
  anthropic: () => import('@anthropic-ai/sdk'),
  async bedrock() {
    const [{ AnthropicBedrock }, { APIError, APIConnectionError, APIUserAbortError }] = await Promise.all([
      import('@anthropic-ai/bedrock-sdk'),
      import('@anthropic-ai/sdk'),
    ]);
    return { AnthropicBedrock, APIError, APIConnectionError, APIUserAbortError };
  },
  google: () => import('@google/genai'),
};

/** Every provider, by the name that settings use. */
export const PROVIDERS = {
  openai: OPENAI,
  anthropic: ANTHROPIC,
  google: GOOGLE,
  bedrock: BEDROCK,
  offline: OFFLINE,
} satisfies Readonly<Record<Source['provider'], ProviderDefinition>>;

/** More sources than anybody sets up: older ones are those of settings that have changed since. */
const MOST_KEPT = 50;

/** Finds the provider for a source: the same one as long as the source is the same. */
export function createProviders(
  clock: Clock,
  random: Random,
  loaders: SdkLoaders = SDK_LOADERS,
): (source: Source) => Provider {
  const load = {
    openai: once(loaders.openai),
    anthropic: once(loaders.anthropic),
    bedrock: once(loaders.bedrock),
    google: once(loaders.google),
  };
  const create = (source: Source): Provider => {
    switch (source.provider) {
      case 'openai':
        return createOpenAiProvider(source, load.openai, clock);
      case 'anthropic':
        return createAnthropicProvider(source, load.anthropic, clock);
      case 'bedrock':
        return createBedrockProvider(source, load.bedrock, clock);
      case 'google':
        return createGoogleProvider(source, load.google, clock);
      case 'offline':
        return createOfflineProvider(random);
    }
  };
  const kept = new Map<string, Provider>();
  return (source) => {
    const key = JSON.stringify(source);
    const provider = kept.get(key) ?? create(source);
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(key, provider);
    return provider;
  };
}
