import type OpenAI from 'openai';
import type { APIError } from 'openai';
import type { OpenAiSource } from '../../vendors/source.js';
import type { HttpProblem, Vendor } from '../http-failure.js';

export type OpenAiSdk = Pick<
  typeof import('openai'),
  'OpenAI' | 'APIError' | 'APIConnectionError' | 'APIUserAbortError'
>;

/** Time limits and repetitions are ours, so the SDK's are switched off. */
const NO_SDK_TIMEOUT_MS = 2_147_483_647;

/** The SDK's client for one source. Nothing is read from the environment. */
export function createClient(sdk: OpenAiSdk, { baseUrl, key, headers }: OpenAiSource): OpenAI {
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

export function vendorOf({ api, baseUrl, key, headers = {} }: OpenAiSource): Vendor {
  const { host, pathname } = new URL(baseUrl);
  const compatible = host !== 'api.openai.com';
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

export function problemOf(error: APIError): HttpProblem {
  return {
    status: error.status,
    kinds: [error.code, error.type].filter((kind) => typeof kind === 'string'),
    param: error.param ?? undefined,
    message: error.message.replace(/^\d{3} /, ''),
    headers: error.headers,
  };
}
