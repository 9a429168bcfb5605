import type { Clock, Random } from '@cinnabar/sdk';
import { ANTHROPIC } from './anthropic/provider.js';
import { BEDROCK } from './bedrock/provider.js';
import type { Connection, ProviderDefinition } from './definition.js';
import { GOOGLE } from './google/provider.js';
import { OFFLINE } from './offline/provider.js';
import { OPENAI } from './openai/provider.js';
import type { Provider } from './provider.js';

/** Every provider, in the order in which sentences name them. */
export const PROVIDERS: readonly ProviderDefinition[] = [OPENAI, ANTHROPIC, GOOGLE, BEDROCK, OFFLINE];

/** More connections than one bot uses: the oldest belong to previous settings. */
const MOST_KEPT = 50;

/** Opens connections: equal sources share one provider. */
export function createProviders(clock: Clock, random: Random): (connection: Connection) => Provider {
  const kept = new Map<string, Provider>();
  return (connection) => {
    const key = JSON.stringify(connection.source);
    const provider = kept.get(key) ?? connection.open({ clock, random });
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(key, provider);
    return provider;
  };
}
