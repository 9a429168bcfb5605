import type { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk';
import type { Clock } from '@cinnabar/sdk';
import type { BedrockSource } from '../../vendors/source.js';
import { sendMessages } from '../anthropic/messages.js';
import { CLAUDE, claudeOnBedrock, LIKE_CLAUDE } from '../anthropic/models.js';
import { type AnthropicSdk, problemOf } from '../anthropic/provider.js';
import { failedAttempt, type Vendor } from '../errors.js';
import { familyOf } from '../model-family.js';
import { once, type Provider, type ProviderCall, type ProviderDefinition } from '../provider.js';

/** Anthropic's models through Amazon Bedrock: the same messages, other addresses, signatures and framing. The SDK is loaded with the first request. */
export function createBedrockProvider(source: BedrockSource, load: () => Promise<BedrockSdk>, clock: Clock): Provider {
  const vendor = vendorOf(source);
  const ready = once(async () => {
    const sdk = await load();
    return { sdk, client: createClient(sdk, source) };
  });
  return {
    name: 'bedrock',
    modes: ['chat', 'prefill'],
    async send(call) {
      const { sdk, client } = await ready();
      try {
        return await sendMessages(client, call);
      } catch (error) {
        return failedAttempt(error, sdk, problemOf, vendor, clock.now());
      }
    },
    render: async (call) => bodyOf(call, (await ready()).sdk, source),
  };
}

/** The SDK rewrites the body on its way out: this is what it hands to `fetch`, unsigned and unsent. */
async function bodyOf(call: ProviderCall, sdk: BedrockSdk, source: BedrockSource): Promise<unknown> {
  let body: unknown;
  const client = createClient(sdk, source, async (_url, init) => {
    body = JSON.parse(String(init?.body));
    return Response.json({ message: 'not sent' }, { status: 400 });
  });
  await sendMessages(client, call).catch(() => undefined);
  return body;
}

function vendorOf({ baseUrl, credentials }: BedrockSource): Vendor {
  const { host } = new URL(baseUrl);
  return {
    title: 'Bedrock',
    keyVariable: 'AWS_ACCESS_KEY_ID',
    secrets: credentials === undefined ? [] : Object.values(credentials),
    host,
    notFoundHint: 'is the model or inference profile right for this region?',
  };
}

export type BedrockSdk = Pick<typeof import('@anthropic-ai/bedrock-sdk'), 'AnthropicBedrock'> &
  Pick<AnthropicSdk, 'APIError' | 'APIConnectionError' | 'APIUserAbortError'>;

/** Time limits and repetitions are ours, so the SDK's are switched off. */
const NO_SDK_TIMEOUT_MS = 2_147_483_647;

/**
 * The SDK's client for one source. Without credentials AWS's own chain is asked (profiles, roles), but not for a server of somebody
 * else's: a proxy signs by itself.
 * @param unsent takes the requests instead of the network
 */
function createClient(
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

export const BEDROCK: ProviderDefinition = {
  familyOf: (model) => claudeOnBedrock(familyOf(CLAUDE, model) ?? LIKE_CLAUDE, model),
  mostTemperature: 1,
};
