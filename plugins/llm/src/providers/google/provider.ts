import type { Clock, Embeddings } from '@cinnabar/sdk';
import type { ApiError, GenerateContentParameters, GoogleGenAI } from '@google/genai';
import { z } from 'zod';
import { bounded } from '../../streaming.js';
import { CONNECTION_LOST, type HttpProblem, isConnectionLost, toFailure, unreadable, type Vendor } from '../errors.js';
import { familyOf } from '../model-family.js';
import {
  type Attempt,
  type EmbedCall,
  once,
  type Provider,
  type ProviderCall,
  type ProviderDefinition,
  toVector,
} from '../provider.js';
import { collect, type GeminiAnswer, textsOf, toReply } from './answer.js';
import { GEMINI, LIKE_GEMINI } from './models.js';
import { type GeminiBody, toGeminiBody } from './request.js';

/** The API's own limit. */
const MOST_TEXTS = 100;

/** Google's Gemini API. The SDK is loaded with the first request. */
export function createGoogleProvider(source: GoogleSource, load: () => Promise<GoogleSdk>, clock: Clock): Provider {
  const vendor = vendorOf(source);
  const ready = once(async () => {
    const sdk = await load();
    return { sdk, client: createClient(sdk, source) };
  });
  const failed = (error: unknown, sdk: GoogleSdk, signal: AbortSignal): Attempt<never> => {
    if (error instanceof sdk.ApiError) {
      return { ok: false, failure: toFailure(problemOf(error), vendor, clock.now()) };
    }
    if (signal.aborted || isConnectionLost(error) || isCutShort(error)) return { ok: false, failure: CONNECTION_LOST };
    if (error instanceof SyntaxError) return { ok: false, failure: unreadable(`${vendor.host} did not send JSON`) };
    throw error;
  };
  return {
    name: 'google',
    modes: ['chat'],
    async send(call) {
      const { sdk, client } = await ready();
      return generate(client, call).catch((error: unknown) => failed(error, sdk, call.signal));
    },
    mostTexts: MOST_TEXTS,
    async embed(call) {
      const { sdk, client } = await ready();
      return sendEmbeddings(client, call).catch((error: unknown) => failed(error, sdk, call.signal));
    },
    render: toGeminiBody,
  };
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
    // An answer has an end of its own, also where a stream simply stops.
    return { ok: false, failure: call.stream ? CONNECTION_LOST : unreadable('it is not an answer of the Gemini API') };
  }
  return { ok: true, reply: toReply(answer, call.model) };
}

/** The body in the SDK's own order: it keeps the options of the generation among everything else. */
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

/** What the SDK throws, without a class of its own, when a stream breaks off within an event. */
function isCutShort(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Incomplete JSON segment');
}

/** The API does not count the tokens of embeddings; of most languages they have about this length. */
const CHARACTERS_PER_TOKEN = 4;

/** `batchEmbedContents`. Each text is a content of its own: as bare texts, some models would make one vector of all. */
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

export type GoogleSdk = Pick<typeof import('@google/genai'), 'GoogleGenAI' | 'ApiError'>;

interface GoogleSource {
  readonly baseUrl: string;
  readonly key?: string;
}

/** The SDK's client for one source: the Gemini API, never Vertex, and without a key of the environment. */
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

function vendorOf({ baseUrl, key }: GoogleSource): Vendor {
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

/** The SDK has put the body of the answer into the message. */
function problemOf(error: ApiError): HttpProblem {
  const body = BODY.safeParse(parse(error.message.slice(error.message.indexOf('{')))).data?.error;
  const delay = body?.details.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay;
  const reasons = body?.details.flatMap(({ reason }) => reason ?? []) ?? [];
  return {
    // A wrong key is a 400 here.
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

export const GOOGLE: ProviderDefinition = {
  familyOf: (model) => familyOf(GEMINI, model) ?? LIKE_GEMINI,
  mostTemperature: 2,
};
