import type { ApiError, GoogleGenAI } from '@google/genai';
import { z } from 'zod';
import type { HttpProblem, Vendor } from '../http-failure.js';

export type GoogleSdk = Pick<typeof import('@google/genai'), 'GoogleGenAI' | 'ApiError'>;

export interface GoogleSource {
  readonly baseUrl: string;
  readonly key?: string;
}

/** The SDK's client for one source: the Gemini API, never Vertex, and without a key of the environment. */
export function createClient(sdk: GoogleSdk, { baseUrl, key }: GoogleSource): GoogleGenAI {
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

export function vendorOf({ baseUrl, key }: GoogleSource): Vendor {
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
export function problemOf(error: ApiError): HttpProblem {
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
