import type Anthropic from '@anthropic-ai/sdk';
import type { APIError } from '@anthropic-ai/sdk';
import type { Clock } from '@cinnabar/sdk';
import { failedAttempt, type HttpProblem, type Vendor } from '../errors.js';
import { familyOf } from '../model-family.js';
import type { Provider, ProviderDefinition } from '../provider.js';
import { renderMessages, sendMessages } from './messages.js';
import { CLAUDE, LIKE_CLAUDE } from './models.js';

/** Anthropic's Messages API. The SDK is loaded with the first request. */
export function createAnthropicProvider(
  source: AnthropicSource,
  load: () => Promise<AnthropicSdk>,
  clock: Clock,
): Provider {
  const vendor = vendorOf(source);
  return {
    name: 'anthropic',
    modes: ['chat', 'prefill'],
    async send(call) {
      const sdk = await load();
      try {
        return await sendMessages(createClient(sdk, source), call);
      } catch (error) {
        return failedAttempt(error, sdk, problemOf, vendor, clock.now());
      }
    },
    render: renderMessages,
  };
}

export type AnthropicSdk = Pick<
  typeof import('@anthropic-ai/sdk'),
  'Anthropic' | 'APIError' | 'APIConnectionError' | 'APIUserAbortError'
>;

interface AnthropicSource {
  readonly baseUrl: string;
  readonly key?: string;
}

/** Time limits and repetitions are ours, so the SDK's are switched off. */
const NO_SDK_TIMEOUT_MS = 2_147_483_647;

/** The SDK's client for one source. Neither the environment nor profiles on disk are read for credentials. */
function createClient(sdk: AnthropicSdk, { baseUrl, key }: AnthropicSource): Anthropic {
  return new sdk.Anthropic({
    baseURL: baseUrl,
    apiKey: key ?? 'none',
    webhookKey: null,
    maxRetries: 0,
    timeout: NO_SDK_TIMEOUT_MS,
    logLevel: 'off',
    ...(key === undefined ? { defaultHeaders: { Authorization: null, 'X-Api-Key': null } } : {}),
  });
}

function vendorOf({ baseUrl, key }: AnthropicSource): Vendor {
  const { host } = new URL(baseUrl);
  return {
    title: host === 'api.anthropic.com' ? 'Anthropic' : 'The server',
    keyVariable: 'ANTHROPIC_API_KEY',
    secrets: key === undefined ? [] : [key],
    host,
    notFoundHint: 'is the model right?',
  };
}

export function problemOf(error: APIError): HttpProblem {
  return {
    status: error.status,
    // Bedrock names the error in a header.
    kinds: [error.type, error.errorCode, error.headers?.get('x-amzn-errortype') ?? null].filter(
      (kind) => kind !== null,
    ),
    param: undefined,
    message: error.apiMessage ?? error.message.replace(/^\d{3} /, ''),
    headers: error.headers,
  };
}

export const ANTHROPIC: ProviderDefinition = {
  familyOf: (model) => familyOf(CLAUDE, model) ?? LIKE_CLAUDE,
  mostTemperature: 1,
};
