import type { Embeddings, ModelPrice, ModelTraits } from '@cinnabar/sdk';
import type { ApiError, GenerateContentParameters, GoogleGenAI } from '@google/genai';
import { z } from 'zod';
import { bounded } from '../../streaming.js';
import { type Family, familyOf, NO_CACHE } from '../../traits.js';
import { defineProvider, httpUrl, keyVariable, nameVariable, vendorSecret } from '../definition.js';
import { type Account, CONNECTION_LOST, type HttpProblem, unreadable } from '../errors.js';
import { type Attempt, type EmbedCall, type ProviderCall, toVector } from '../provider.js';
import { collect, type GeminiAnswer, type GeminiBody, textsOf, toGeminiBody, toReply } from './generate-content.js';

interface GoogleSource {
  readonly baseUrl: string;
  readonly key?: string;
}

/** Google's Gemini API. */
export const GOOGLE = defineProvider({
  name: 'google',
  title: 'Google',
  autoRank: 3,
  because: 'GOOGLE_API_KEY or its base URL is set',
  variables: {
    key: 'GOOGLE_API_KEY',
    baseUrl: 'GOOGLE_BASE_URL',
    model: 'GOOGLE_MODEL',
    embeddingModel: 'GOOGLE_EMBEDDING_MODEL',
  },
  settings: {
    googleBaseUrl: httpUrl.optional().describe('Address of a Gemini-compatible server; by default GOOGLE_BASE_URL'),
  },
  environment: {
    GOOGLE_API_KEY: keyVariable.optional().describe('Key for the Gemini API'),
    GEMINI_API_KEY: keyVariable.optional().describe('The same as GOOGLE_API_KEY'),
    GOOGLE_BASE_URL: httpUrl.optional().describe('Address of a Gemini-compatible server'),
    GOOGLE_MODEL: nameVariable.optional().describe('The model to use with Google'),
    GOOGLE_EMBEDDING_MODEL: nameVariable
      .optional()
      .describe('The model for embeddings of Google, such as gemini-embedding-001'),
  },
  vendorConfig: { google_api_key: vendorSecret.exactOptional() },
  impliedBy: ['google_api_key'],
  defaultModel: 'gemini-3.8-flash',
  partsOf: (settings, env) => ({
    key: env.GOOGLE_API_KEY || env.GEMINI_API_KEY || undefined,
    baseUrl: settings.googleBaseUrl || env.GOOGLE_BASE_URL || undefined,
  }),
  vendorParts: ({ apiKey, google_api_key: key, baseUrl }) => ({ key: apiKey ?? key, baseUrl }),
  source: ({ key, baseUrl = 'https://generativelanguage.googleapis.com' }): GoogleSource => ({
    // The SDK appends the version.
    baseUrl: baseUrl.replace(/\/+$/, '').replace(/\/v1(beta)?$/, ''),
    ...(key === undefined ? {} : { key }),
  }),
  listing: ({ baseUrl, key }) => ({
    url: `${baseUrl}/v1beta/models?pageSize=1`,
    headers: key === undefined ? {} : { 'x-goog-api-key': key },
  }),

  maxTemperature: 2,
  familyOf: (model) => familyOf(GEMINI, model) ?? LIKE_GEMINI,

  loadSdk: (): Promise<GoogleSdk> => import('@google/genai'),
  client: createClient,
  modes: () => ['chat'],
  send: generate,
  render: toGeminiBody,
  // The API's maximum.
  mostTexts: 100,
  embed: sendEmbeddings,
  account: accountOf,
  readError(error, sdk) {
    if (error instanceof sdk.ApiError) return problemOf(error);
    return isCutShort(error) ? 'connection lost' : undefined;
  },
});

/** Google's models, with the vendor's prices of November 2026 for prompts of up to 200,000 tokens. */
const GEMINI: readonly Family[] = [
  gemini(/gemini-3-8-flash/, 4096, price(0.75, 0.075, 3.75)),
  gemini(/gemini-2-5-flash-lite/, 1024, price(0.1, 0.01, 0.4)),
  gemini(/gemini-2-5-flash/, 1024, price(0.3, 0.03, 2.5)),
  gemini(/gemini-2-5-pro/, 4096, price(1.25, 0.125, 10)),
  gemini(/gemini-embedding-001/, 0, price(0.15, 0.15, 0)),
  gemini(/gemini-[3-9]/, 4096, undefined),
];

/** Older models do not cache automatically. */
const LIKE_GEMINI: Family = { ...gemini(/^/, 0, undefined), cache: NO_CACHE };

function gemini(names: RegExp, minTokens: number, modelPrice: ModelPrice | undefined): Family {
  const cache: ModelTraits['cache'] = { kind: 'automatic', breakpoints: 0, minTokens, ttls: [], lookBackBlocks: 0 };
  return { names, contextTokens: 1_048_576, images: true, cache, price: modelPrice, prefill: false };
}

function price(input: number, cacheRead: number, output: number): ModelPrice {
  return { input, output, cacheRead, cacheWrite5m: input, cacheWrite1h: input };
}

async function generate(client: GoogleGenAI, call: ProviderCall): Promise<Attempt> {
  const params = toParams(call.model, toGeminiBody(call), call.signal);
  if (!call.stream) return finished(call, await collect([await client.models.generateContent(params)]));
  const read = bounded(await client.models.generateContentStream(params), call.maxBytes, textsOf);
  const answer = await collect(read, call.onText);
  const { cutAfterBytes } = read;
  if (cutAfterBytes === undefined) return finished(call, answer);
  return { ok: true, reply: { ...toReply({ ...answer, finishReason: 'MAX_TOKENS' }, call.model), cutAfterBytes } };
}

function finished(call: ProviderCall, answer: GeminiAnswer): Attempt {
  if (answer.finishReason === undefined) {
    // A complete answer has a finish reason; a stream can end without one.
    return { ok: false, failure: call.stream ? CONNECTION_LOST : unreadable('it is not an answer of the Gemini API') };
  }
  return { ok: true, reply: toReply(answer, call.model) };
}

/** The SDK's form of the body: generation options and all other fields in one `config`. */
function toParams(model: string, body: GeminiBody, abortSignal: AbortSignal): GenerateContentParameters {
  const { contents, systemInstruction, tools, generationConfig } = body;
  return {
    model,
    contents: contents.map(({ role, parts }) => ({ role, parts: [...parts] })),
    config: {
      ...generationConfig,
      systemInstruction: { role: systemInstruction.role, parts: [...systemInstruction.parts] },
      ...(tools === undefined
        ? {}
        : { tools: tools.map(({ functionDeclarations }) => ({ functionDeclarations: [...functionDeclarations] })) }),
      abortSignal,
    },
  };
}

/** Whether the SDK reports a stream that was interrupted within an event, for which it has no error class. */
function isCutShort(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Incomplete JSON segment');
}

/** The API does not report the tokens of embeddings; this is about right in most languages. */
const CHARACTERS_PER_TOKEN = 4;

/** Sends `batchEmbedContents`. Each text is a separate content: some models make one vector of all bare texts. */
async function sendEmbeddings(client: GoogleGenAI, call: EmbedCall): Promise<Attempt<Embeddings>> {
  const { model, texts, signal } = call;
  const answer = await client.models.embedContent({
    model,
    contents: texts.map((text) => ({ role: 'user', parts: [{ text }] })),
    config: { abortSignal: signal },
  });
  const vectors = (answer.embeddings ?? []).map(({ values }) => toVector(values));
  const tokens = texts.reduce((sum, { length }) => sum + Math.ceil(length / CHARACTERS_PER_TOKEN), 0);
  return { ok: true, reply: { vectors, model, tokens } };
}

type GoogleSdk = Pick<typeof import('@google/genai'), 'GoogleGenAI' | 'ApiError'>;

/** The SDK's client for one source: the Gemini API, never Vertex. Reads no key from the environment. */
function createClient(sdk: GoogleSdk, { baseUrl, key }: GoogleSource): GoogleGenAI {
  const withoutKey: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete('x-goog-api-key');
    return fetch(input, { ...init, headers });
  };
  return new sdk.GoogleGenAI({
    apiKey: key ?? 'none',
    vertexai: false,
    httpOptions: { baseUrl, ...(key === undefined ? { fetch: withoutKey } : {}) },
  });
}

function accountOf({ baseUrl, key }: GoogleSource): Account {
  const { host } = new URL(baseUrl);
  return {
    title: host === 'generativelanguage.googleapis.com' ? 'Google' : 'The server',
    keyVariable: 'GOOGLE_API_KEY',
    secrets: key === undefined ? [] : [key],
    host,
    notFoundHint: 'is the model right?',
  };
}

const BODY = z.object({
  error: z.object({
    message: z.string().default(''),
    status: z.string().default(''),
    details: z.array(z.looseObject({ reason: z.string().optional(), retryDelay: z.string().optional() })).default([]),
  }),
});

/** The SDK's message contains the body of the response. */
function problemOf(error: ApiError): HttpProblem {
  const body = BODY.safeParse(parse(error.message.slice(error.message.indexOf('{')))).data?.error;
  const delay = body?.details.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay;
  const reasons = body?.details.flatMap(({ reason }) => reason ?? []) ?? [];
  return {
    // The API reports an invalid key with status 400.
    status: reasons.includes('API_KEY_INVALID') ? 401 : error.status,
    kinds: [body?.status ?? '', ...reasons],
    param: undefined,
    message: body?.message || error.message,
    headers: delay === undefined ? undefined : new Headers({ 'retry-after': String(Number.parseFloat(delay)) }),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
