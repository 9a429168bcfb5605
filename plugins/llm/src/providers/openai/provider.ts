import { type Embeddings, type ModelPrice, type ModelTraits, z } from '@cinnabar/sdk';
import type OpenAI from 'openai';
import type { APIError } from 'openai';
import { type Family, familyOf, NO_CACHE } from '../../traits.js';
import {
  defineProvider,
  httpUrl,
  keyVariable,
  NO_SDK_TIMEOUT_MS,
  nameVariable,
  type VendorConfig,
  vendorSecret,
} from '../definition.js';
import { type Account, type HttpProblem, readSdkError, unreadable } from '../errors.js';
import { type Attempt, type EmbedCall, toVector } from '../provider.js';
import { renderChat, sendChat } from './chat-completions.js';
import { renderResponses, sendResponses } from './responses.js';

const APIS = z.enum(['responses', 'chat']);

/** OpenAI, or a server with a compatible API. */
interface OpenAiSource {
  readonly api: z.output<typeof APIS>;
  readonly baseUrl: string;
  readonly key?: string;
  /** Secrets: never shown or logged. */
  readonly headers?: VendorConfig['headers'];
  readonly body?: VendorConfig['body'];
}

/** OpenAI, and every server with one of its two APIs. */
export const OPENAI = defineProvider({
  name: 'openai',
  title: 'OpenAI',
  autoRank: 2,
  because: 'OPENAI_API_KEY or its base URL is set',
  variables: {
    key: 'OPENAI_API_KEY',
    baseUrl: 'OPENAI_BASE_URL',
    model: 'OPENAI_MODEL',
    embeddingModel: 'OPENAI_EMBEDDING_MODEL',
  },
  settings: {
    api: APIS.default('responses').describe(
      'Which API of OpenAI: responses, or chat (Chat Completions) for compatible servers that have only that',
    ),
    openaiBaseUrl: httpUrl.optional().describe('Address of an OpenAI-compatible server; by default OPENAI_BASE_URL'),
  },
  environment: {
    OPENAI_API_KEY: keyVariable.optional().describe('Key for OpenAI, or for the compatible server at OPENAI_BASE_URL'),
    OPENAI_BASE_URL: httpUrl
      .optional()
      .describe('Address of an OpenAI-compatible server (xAI, Ollama, vLLM, llama.cpp), usually ending in /v1'),
    OPENAI_MODEL: nameVariable.optional().describe('The model to use with OpenAI or the compatible server'),
    OPENAI_EMBEDDING_MODEL: nameVariable
      .optional()
      .describe('The model for embeddings of OpenAI or the compatible server, such as text-embedding-3-small'),
  },
  vendorConfig: { openai_api_key: vendorSecret.exactOptional(), api: APIS.exactOptional() },
  impliedBy: ['openai_api_key'],
  takesHeadersAndBody: true,
  defaultModel: 'gpt-5.4-mini',
  partsOf: (settings, env): OpenAiSettings => ({
    key: env.OPENAI_API_KEY || undefined,
    baseUrl: settings.openaiBaseUrl || env.OPENAI_BASE_URL || undefined,
    api: settings.api,
  }),
  vendorParts: ({ apiKey, openai_api_key: key, ...config }) => ({ ...config, key: apiKey ?? key }),
  problemWith: ({ key, baseUrl }) =>
    baseUrl === undefined && key?.startsWith('sk-ant-') === true
      ? { environment: 'OPENAI_API_KEY holds a key of Anthropic: put it into ANTHROPIC_API_KEY' }
      : undefined,
  source: ({ api = 'responses', baseUrl = 'https://api.openai.com/v1', key, headers, body }): OpenAiSource => ({
    api,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    ...(key === undefined ? {} : { key }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
  }),
  details: ({ api }) => [['API', api]],
  listing: ({ baseUrl, key, headers }) => ({
    url: `${baseUrl}/models`,
    headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
  }),

  maxTemperature: 2,
  familyOf: (model) => familyOf(GPT, model) ?? LIKE_GPT,

  loadSdk: (): Promise<OpenAiSdk> => import('openai'),
  client: createClient,
  // A compatible server may support prefill: the setting `models` determines it.
  modes: (source) => (source.api === 'chat' && !isGenuine(source) ? ['chat', 'prefill'] : ['chat']),
  send: (client, call, { source, explain }) =>
    source.api === 'chat'
      ? sendChat(client, call, isGenuine(source), source.body)
      : sendResponses(client, call, source.body, explain),
  render: (call, { source }) =>
    source.api === 'chat' ? renderChat(call, isGenuine(source), source.body) : renderResponses(call, source.body),
  // OpenAI accepts more; long texts would exceed the token limit of one request.
  mostTexts: 256,
  embed: sendEmbeddings,
  account: accountOf,
  readError: (error, sdk) => readSdkError(error, sdk, problemOf),
});

interface OpenAiSettings extends Omit<Partial<OpenAiSource>, 'key' | 'baseUrl' | 'api'> {
  readonly key?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly api?: OpenAiSource['api'] | undefined;
}

function isGenuine({ baseUrl }: OpenAiSource): boolean {
  return new URL(baseUrl).host === 'api.openai.com';
}

/** Prefixes of at least 1,024 tokens are cached automatically in steps of 128. */
const AUTOMATIC: ModelTraits['cache'] = {
  kind: 'automatic',
  breakpoints: 0,
  minTokens: 1024,
  ttls: [],
  lookBackBlocks: 0,
};
const CHARGES_WRITES = 1.25;

/** Models behind OpenAI's API, with the vendor's prices of November 2026. */
const GPT: readonly Family[] = [
  gpt(/gpt-6-\d-sol/, 400_000, price(2, 0.1, 10, CHARGES_WRITES)),
  gpt(/gpt-(5-[6-9]|[6-9])/, 400_000, undefined),
  gpt(/gpt-5-5(?!-?(mini|nano|pro))/, 400_000, price(5, 0.5, 30)),
  gpt(/gpt-5-4-mini/, 400_000, price(0.75, 0.075, 4.5)),
  gpt(/gpt-5-4-nano/, 400_000, price(0.2, 0.02, 1.25)),
  gpt(/gpt-5-4(?!-?pro)/, 400_000, price(2.5, 0.25, 15)),
  gpt(/gpt-5-[23](?!-?(mini|nano|pro))/, 400_000, price(1.75, 0.175, 14)),
  gpt(/gpt-5(-1)?-mini/, 400_000, price(0.25, 0.025, 2)),
  gpt(/gpt-5-nano/, 400_000, price(0.05, 0.005, 0.4)),
  gpt(/gpt-5(-1)?(?!-\d|-?pro)/, 400_000, price(1.25, 0.125, 10)),
  gpt(/gpt-4-1-mini/, 1_000_000, price(0.4, 0.1, 1.6)),
  gpt(/gpt-4-1-nano/, 1_000_000, price(0.1, 0.025, 0.4)),
  gpt(/gpt-4-1/, 1_000_000, price(2, 0.5, 8)),
  gpt(/gpt-4o-mini/, 128_000, price(0.15, 0.075, 0.6)),
  gpt(/gpt-4o/, 128_000, price(2.5, 1.25, 10)),
  gpt(/^o3(?!-?(mini|pro))/, 200_000, price(2, 0.5, 8)),
  gpt(/^o4-mini/, 200_000, price(1.1, 0.275, 4.4)),
  gpt(/^(gpt-[45]|o[134]|chatgpt)/, 128_000, undefined),
  gpt(/^grok/, 131_072, undefined),
  gpt(/^text-embedding-3-small/, 8_191, price(0.02, 0.02, 0)),
  gpt(/^text-embedding-3-large/, 8_191, price(0.13, 0.13, 0)),
];

/** A compatible server's model: it only has assumed traits, and the API accepts images. */
const LIKE_GPT: Family = { ...gpt(/^/, 32_768, undefined), cache: NO_CACHE };

function gpt(names: RegExp, contextTokens: number, modelPrice: ModelPrice | undefined): Family {
  return { names, contextTokens, images: true, cache: AUTOMATIC, price: modelPrice, prefill: false };
}

function price(input: number, cacheRead: number, output: number, writeShare = 1): ModelPrice {
  const written = input * writeShare;
  return { input, output, cacheRead, cacheWrite5m: written, cacheWrite1h: written };
}

/** `POST /embeddings`, with vectors as numbers: compatible servers do not support the base64 form that the SDK requests by default. */
async function sendEmbeddings(client: OpenAI, call: EmbedCall): Promise<Attempt<Embeddings>> {
  const { model, texts, signal } = call;
  const answer = await client.embeddings.create({ model, input: [...texts], encoding_format: 'float' }, { signal });
  if (!Array.isArray(answer?.data)) return { ok: false, failure: unreadable('it is not a list of embeddings') };
  const inOrder = answer.data.toSorted((one, other) => one.index - other.index);
  return {
    ok: true,
    reply: {
      vectors: inOrder.map(({ embedding }) => toVector(embedding)),
      model: answer.model || model,
      tokens: answer.usage?.total_tokens ?? 0,
    },
  };
}

type OpenAiSdk = Pick<typeof import('openai'), 'OpenAI' | 'APIError' | 'APIConnectionError' | 'APIUserAbortError'>;

/** The SDK's client for one source. Nothing is read from the environment. */
function createClient(sdk: OpenAiSdk, { baseUrl, key, headers }: OpenAiSource): OpenAI {
  return new sdk.OpenAI({
    baseURL: baseUrl,
    apiKey: key ?? 'none',
    organization: null,
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: NO_SDK_TIMEOUT_MS,
    logLevel: 'off',
    defaultHeaders: { ...(key === undefined ? { Authorization: null } : {}), ...headers },
  });
}

function accountOf(source: OpenAiSource): Account {
  const { api, baseUrl, key, headers = {} } = source;
  const { host, pathname } = new URL(baseUrl);
  const compatible = !isGenuine(source);
  const hints = [
    'is the model right?',
    ...(compatible && pathname === '/' ? ['such addresses usually end in /v1'] : []),
    ...(compatible && api === 'responses' ? ['a server without the Responses API needs the setting api = chat'] : []),
  ];
  return {
    title: compatible ? 'The server' : 'OpenAI',
    keyVariable: 'OPENAI_API_KEY',
    secrets: [...(key === undefined ? [] : [key]), ...Object.values(headers)],
    host,
    notFoundHint: hints.join('; '),
  };
}

function problemOf(error: APIError): HttpProblem {
  return {
    status: error.status,
    kinds: [error.code, error.type].filter((kind) => typeof kind === 'string'),
    param: error.param ?? undefined,
    message: error.message.replace(/^\d{3} /, ''),
    headers: error.headers,
  };
}
