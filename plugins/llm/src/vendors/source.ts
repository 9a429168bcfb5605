import type { z } from 'zod';

/** Where requests go, with everything that settings and environment leave open decided. */
export type Source =
  | OpenAiSource
  | { readonly provider: 'anthropic'; readonly baseUrl: string; readonly key?: string }
  | { readonly provider: 'google'; readonly baseUrl: string; readonly key?: string }
  | BedrockSource
  | { readonly provider: 'offline' };

/** OpenAI, or a server that speaks one of its APIs. */
export interface OpenAiSource {
  readonly provider: 'openai';
  readonly api: 'responses' | 'chat';
  readonly baseUrl: string;
  readonly key?: string;
  /** Secrets: shown and logged nowhere. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonFields;
}
export type JsonFields = Readonly<Record<string, z.core.util.JSONType>>;

export interface BedrockSource {
  readonly provider: 'bedrock';
  readonly region: string;
  readonly baseUrl: string;
  /** Without them AWS's own chain is asked: profiles, roles. */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

/** Who answers for some models. */
export interface Vendor {
  /** As configured, or the provider's name. */
  readonly name: string;
  readonly source: Source;
}

export const PROVIDER_NAMES = ['openai', 'anthropic', 'google', 'bedrock'] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** What a source is made of before the provider's defaults. */
export interface SourceParts {
  readonly key?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly api?: 'responses' | 'chat' | undefined;
  readonly region?: string | undefined;
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: JsonFields | undefined;
}

const OFFICIAL: Readonly<Record<Exclude<ProviderName, 'bedrock'>, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  google: 'https://generativelanguage.googleapis.com',
};
const DEFAULT_REGION = 'us-east-1';

/** A source with the provider's defaults filled in. */
export function sourceOf(provider: ProviderName, parts: SourceParts): Source {
  const given = parts.baseUrl === undefined ? undefined : parts.baseUrl.replace(/\/+$/, '');
  if (provider === 'bedrock') {
    const { region = DEFAULT_REGION, accessKeyId, secretAccessKey, sessionToken } = parts;
    const baseUrl = given ?? `https://bedrock-runtime.${region}.amazonaws.com`;
    if (accessKeyId === undefined || secretAccessKey === undefined) return { provider, region, baseUrl };
    const token = sessionToken === undefined ? {} : { sessionToken };
    return { provider, region, baseUrl, credentials: { accessKeyId, secretAccessKey, ...token } };
  }
  const key = parts.key === undefined ? {} : { key: parts.key };
  const baseUrl = given ?? OFFICIAL[provider];
  switch (provider) {
    case 'openai':
      return {
        provider,
        api: parts.api ?? 'responses',
        baseUrl,
        ...key,
        ...(parts.headers === undefined ? {} : { headers: parts.headers }),
        ...(parts.body === undefined ? {} : { body: parts.body }),
      };
    case 'anthropic':
      // The SDK adds /v1 itself.
      return { provider, baseUrl: baseUrl.replace(/\/v1$/, ''), ...key };
    case 'google':
      // The SDK adds the version itself.
      return { provider, baseUrl: baseUrl.replace(/\/v1(beta)?$/, ''), ...key };
  }
}
