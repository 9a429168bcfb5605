import type { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk';
import type { BedrockSource } from '../../vendors/source.js';
import type { AnthropicSdk } from '../anthropic/client.js';

export type BedrockSdk = Pick<typeof import('@anthropic-ai/bedrock-sdk'), 'AnthropicBedrock'> &
  Pick<AnthropicSdk, 'APIError' | 'APIConnectionError' | 'APIUserAbortError'>;

/** Time limits and repetitions are ours, so the SDK's are switched off. */
const NO_SDK_TIMEOUT_MS = 2_147_483_647;

/**
 * The SDK's client for one source. Without credentials AWS's own chain is asked (profiles, roles), but not for a server of somebody
 * else's: a proxy signs by itself.
 * @param unsent takes the requests instead of the network
 */
export function createClient(
  sdk: BedrockSdk,
  { region, baseUrl, credentials }: BedrockSource,
  unsent?: typeof fetch,
): AnthropicBedrock {
  const options = {
    apiKey: null,
    awsRegion: region,
    baseURL: baseUrl,
    maxRetries: 0,
    timeout: NO_SDK_TIMEOUT_MS,
    logLevel: 'off' as const,
  };
  if (unsent !== undefined) return new sdk.AnthropicBedrock({ ...options, fetch: unsent, skipAuth: true });
  if (credentials === undefined) {
    return new sdk.AnthropicBedrock({ ...options, skipAuth: !isAmazon(new URL(baseUrl).hostname) });
  }
  const { accessKeyId, secretAccessKey, sessionToken = null } = credentials;
  return new sdk.AnthropicBedrock({
    ...options,
    awsAccessKey: accessKeyId,
    awsSecretKey: secretAccessKey,
    awsSessionToken: sessionToken,
  });
}

function isAmazon(host: string): boolean {
  return /(^|\.)(amazonaws\.com(\.cn)?|api\.aws)$/.test(host);
}
