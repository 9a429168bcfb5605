import type { Clock } from '@cinnabar/sdk';
import type { GenerateContentParameters, GoogleGenAI } from '@google/genai';
import { bounded } from '../../streaming/bounded.js';
import { CONNECTION_LOST, isConnectionLost, toFailure, unreadable } from '../http-failure.js';
import { once } from '../once.js';
import type { Attempt, Provider, ProviderCall } from '../provider.js';
import { collect, type GeminiAnswer, textsOf, toReply } from './answer.js';
import { type GeminiBody, toGeminiBody } from './body.js';
import { createClient, type GoogleSdk, type GoogleSource, problemOf, vendorOf } from './client.js';
import { sendEmbeddings } from './embeddings.js';

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
