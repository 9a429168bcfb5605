import type { Clock, Embeddings } from '@cinnabar/sdk';
import type OpenAI from 'openai';
import type { APIError } from 'openai';
import type { OpenAiSource } from '../../vendors/source.js';
import { failedAttempt, type HttpProblem, toFailure, unreadable, type Vendor } from '../errors.js';
import { familyOf } from '../model-family.js';
import type { ProviderDefinition } from '../provider.js';
import { type Attempt, type EmbedCall, type Provider, toVector } from '../provider.js';
import { renderChat, sendChat } from './chat-completions.js';
import { GPT, LIKE_GPT } from './models.js';
import { renderResponses, sendResponses } from './responses.js';

/** OpenAI takes more; with long texts that would be too many tokens for one request. */
const MOST_TEXTS = 256;

/** OpenAI, and every server that speaks one of its two APIs. The SDK is loaded with the first request. */
export function createOpenAiProvider(source: OpenAiSource, load: () => Promise<OpenAiSdk>, clock: Clock): Provider {
  const vendor = vendorOf(source);
  const genuine = vendor.host === 'api.openai.com';
  return {
    name: 'openai',
    // A server of one's own may go on with the last message; the setting models says so.
    modes: source.api === 'chat' && !genuine ? ['chat', 'prefill'] : ['chat'],
    async send(call) {
      const sdk = await load();
      const client = createClient(sdk, source);
      try {
        return await (source.api === 'chat'
          ? sendChat(client, call, genuine, source.body)
          : sendResponses(client, call, source.body, (problem) => toFailure(problem, vendor, clock.now())));
      } catch (error) {
        return failedAttempt(error, sdk, problemOf, vendor, clock.now());
      }
    },
    mostTexts: MOST_TEXTS,
    async embed(call) {
      const sdk = await load();
      try {
        return await sendEmbeddings(createClient(sdk, source), call);
      } catch (error) {
        return failedAttempt(error, sdk, problemOf, vendor, clock.now());
      }
    },
    render: (call) =>
      source.api === 'chat' ? renderChat(call, genuine, source.body) : renderResponses(call, source.body),
  };
}

/** `POST /embeddings`. As numbers: compatible servers do not know the shorter form that the SDK would ask for. */
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

export type OpenAiSdk = Pick<
  typeof import('openai'),
  'OpenAI' | 'APIError' | 'APIConnectionError' | 'APIUserAbortError'
>;

/** Time limits and repetitions are ours, so the SDK's are switched off. */
const NO_SDK_TIMEOUT_MS = 2_147_483_647;

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

function vendorOf({ api, baseUrl, key, headers = {} }: OpenAiSource): Vendor {
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

function problemOf(error: APIError): HttpProblem {
  return {
    status: error.status,
    kinds: [error.code, error.type].filter((kind) => typeof kind === 'string'),
    param: error.param ?? undefined,
    message: error.message.replace(/^\d{3} /, ''),
    headers: error.headers,
  };
}

export const OPENAI: ProviderDefinition = {
  familyOf: (model) => familyOf(GPT, model) ?? LIKE_GPT,
  mostTemperature: 2,
};
