import type Anthropic from '@anthropic-ai/sdk';
import type { APIError } from '@anthropic-ai/sdk';
import type { ModelPrice, ModelTraits } from '@cinnabar/sdk';
import { type Family, familyOf } from '../../traits.js';
import { defineProvider, httpUrl, keyVariable, NO_SDK_TIMEOUT_MS, nameVariable, vendorSecret } from '../definition.js';
import { type Account, type HttpProblem, readSdkError } from '../errors.js';
import { renderMessages, sendMessages } from './messages.js';

interface AnthropicSource {
  readonly baseUrl: string;
  readonly key?: string;
}

/** Anthropic's Messages API. */
export const ANTHROPIC = defineProvider({
  name: 'anthropic',
  title: 'Anthropic',
  autoRank: 1,
  because: 'ANTHROPIC_API_KEY or its base URL is set',
  variables: { key: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL', model: 'ANTHROPIC_MODEL' },
  settings: {
    anthropicBaseUrl: httpUrl
      .optional()
      .describe('Address of an Anthropic-compatible server; by default ANTHROPIC_BASE_URL'),
  },
  environment: {
    ANTHROPIC_API_KEY: keyVariable.optional().describe('Key for Anthropic'),
    ANTHROPIC_BASE_URL: httpUrl.optional().describe('Address of an Anthropic-compatible server'),
    ANTHROPIC_MODEL: nameVariable.optional().describe('The model to use with Anthropic'),
  },
  vendorConfig: { anthropic_api_key: vendorSecret.exactOptional() },
  impliedBy: ['anthropic_api_key'],
  defaultModel: 'claude-sonnet-5',
  partsOf: (settings, env) => ({
    key: env.ANTHROPIC_API_KEY || undefined,
    baseUrl: settings.anthropicBaseUrl || env.ANTHROPIC_BASE_URL || undefined,
  }),
  vendorParts: ({ apiKey, anthropic_api_key: key, baseUrl }) => ({ key: apiKey ?? key, baseUrl }),
  source: ({ key, baseUrl = 'https://api.anthropic.com' }): AnthropicSource => ({
    // The SDK appends /v1.
    baseUrl: baseUrl.replace(/\/+$/, '').replace(/\/v1$/, ''),
    ...(key === undefined ? {} : { key }),
  }),
  listing: ({ baseUrl, key }) => ({
    url: `${baseUrl}/v1/models?limit=1`,
    headers: { 'anthropic-version': '2023-06-01', ...(key === undefined ? {} : { 'x-api-key': key }) },
  }),

  maxTemperature: 1,
  familyOf: (model) => familyOf(CLAUDE, model) ?? LIKE_CLAUDE,

  loadSdk: (): Promise<AnthropicSdk> => import('@anthropic-ai/sdk'),
  client: createClient,
  modes: () => ['chat', 'prefill'],
  send: sendMessages,
  render: renderMessages,
  account: accountOf,
  readError: (error, sdk) => readSdkError(error, sdk, problemOf),
});

const MILLION = 1_000_000;
const OLDER = 200_000;
/** Claude 4.6 and later refuse prefill with status 400. */
const PREFILL = true;
const NO_PREFILL = false;

/**
 * Anthropic's models at any vendor: names on Bedrock contain these. Prices and the shortest cacheable prefixes are those of the vendor's documentation in
 * November 2026; where sources differ, the longer prefix is used.
 */
export const CLAUDE: readonly Family[] = [
  claude(/claude-(fable|mythos)-5-\d/, MILLION, 512, NO_PREFILL, price(10, 50, 0.025)),
  claude(/claude-(fable|mythos)-5/, MILLION, 512, NO_PREFILL, price(10, 50)),
  claude(/claude-opus-5-\d/, MILLION, 512, NO_PREFILL, price(4, 20, 0.05)),
  claude(/claude-opus-5/, MILLION, 512, NO_PREFILL, price(5, 25)),
  claude(/claude-sonnet-5-\d/, MILLION, 1024, NO_PREFILL, price(2, 10, 0.05)),
  claude(/claude-sonnet-5/, MILLION, 1024, NO_PREFILL, price(2, 10)),
  // Prompts of over 100,000 tokens cost five times as much.
  claude(/claude-haiku-5/, MILLION, 4096, NO_PREFILL, price(0.1, 0.5)),
  claude(/claude-opus-4-8/, MILLION, 1024, NO_PREFILL, price(5, 25)),
  claude(/claude-opus-4-7/, MILLION, 2048, NO_PREFILL, price(5, 25)),
  claude(/claude-opus-4-6/, MILLION, 4096, NO_PREFILL, price(5, 25)),
  claude(/claude-sonnet-4-6/, MILLION, 2048, NO_PREFILL, price(3, 15)),
  claude(/claude-opus-4-5/, OLDER, 4096, PREFILL, price(5, 25)),
  claude(/claude-sonnet-4-5/, OLDER, 1024, PREFILL, price(3, 15)),
  claude(/claude-haiku-4-5/, OLDER, 4096, PREFILL, price(1, 5)),
  claude(/claude-(opus-4|3-opus)(?!-[2-9](-|$))/, OLDER, 1024, PREFILL, price(15, 75)),
  claude(/claude-(sonnet-4|3(-[57])?-sonnet)(?!-[2-9](-|$))/, OLDER, 1024, PREFILL, price(3, 15)),
  claude(/claude-3-5-haiku/, OLDER, 2048, PREFILL, price(0.8, 4)),
  claude(/claude-3-haiku/, OLDER, 2048, PREFILL, price(0.25, 1.25)),
  // Every model that is newer than this table.
  claude(/claude/, OLDER, 4096, NO_PREFILL, undefined),
];

/** The same models on Bedrock, which keeps prefixes for an hour only from version 4.5 on. */
export function claudeOnBedrock(family: Family, model: string): Family {
  if (/claude-((opus|sonnet|haiku)-4-[5-9]|[a-z]+-[5-9])/.test(model.replaceAll('.', '-'))) return family;
  return { ...family, cache: { ...family.cache, ttls: ['5m'] } };
}

/** Assumed traits for a server with Anthropic's API and none of the vendor's models. */
export const LIKE_CLAUDE: Family = claude(/^/, OLDER, 4096, undefined, undefined);

function claude(
  names: RegExp,
  contextTokens: number,
  minTokens: number,
  prefill: boolean | undefined,
  modelPrice: ModelPrice | undefined,
): Family {
  const cache: ModelTraits['cache'] = {
    kind: 'explicit',
    breakpoints: 4,
    minTokens,
    ttls: ['5m', '1h'],
    lookBackBlocks: 20,
  };
  return { names, contextTokens, images: true, cache, price: modelPrice, prefill };
}

function price(input: number, output: number, readShare = 0.1): ModelPrice {
  return { input, output, cacheRead: input * readShare, cacheWrite5m: input * 1.25, cacheWrite1h: input * 2 };
}

export type AnthropicSdk = Pick<
  typeof import('@anthropic-ai/sdk'),
  'Anthropic' | 'APIError' | 'APIConnectionError' | 'APIUserAbortError'
>;

/** The SDK's client for one source. It reads no credentials from the environment or from profiles on the disk. */
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

function accountOf({ baseUrl, key }: AnthropicSource): Account {
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
    // Bedrock sends the name of the error in a header.
    kinds: [error.type, error.errorCode, error.headers?.get('x-amzn-errortype') ?? null].filter(
      (kind) => kind !== null,
    ),
    param: undefined,
    message: error.apiMessage ?? error.message.replace(/^\d{3} /, ''),
    headers: error.headers,
  };
}
