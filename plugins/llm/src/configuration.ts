import { CinnabarError } from '@cinnabar/sdk';
import type { Environment, GlobalSettings } from './settings.js';

const OPENAI = 'https://api.openai.com/v1';
const ANTHROPIC = 'https://api.anthropic.com';
const DEFAULT_OPENAI_MODEL = 'gpt-5.4-mini';
const DEFAULT_ANTHROPIC_MODEL = 'claude-sonnet-5';

/** Where requests go, with everything that settings and environment leave open decided. */
export type Source =
  | { readonly provider: 'openai'; readonly api: 'responses' | 'chat'; readonly baseUrl: string; readonly key?: string }
  | { readonly provider: 'anthropic'; readonly baseUrl: string; readonly key?: string }
  | { readonly provider: 'offline' };

export interface Configuration {
  readonly source: Source;
  readonly model: string;
  /** Why this provider: for status lines. */
  readonly because: string;
}

/**
 * Who answers. A setting wins over the variable of the same meaning.
 * @throws CINNABAR_LLM_NOT_CONFIGURED with the variable that is missing or wrong
 */
export function configure(settings: GlobalSettings, env: Environment): Configuration {
  const openai = credentials(env.OPENAI_API_KEY, settings.openaiBaseUrl || env.OPENAI_BASE_URL);
  const anthropic = credentials(env.ANTHROPIC_API_KEY, settings.anthropicBaseUrl || env.ANTHROPIC_BASE_URL);
  const provider = settings.provider === 'auto' ? choose(openai, anthropic) : settings.provider;
  const because =
    settings.provider !== 'auto'
      ? `the setting provider is ${provider}`
      : provider === 'offline'
        ? 'neither a key nor a base URL is set'
        : `${provider === 'openai' ? 'OPENAI' : 'ANTHROPIC'}_API_KEY or its base URL is set`;
  if (provider === 'offline') return { source: { provider }, model: 'offline', because };

  if (provider === 'anthropic') {
    demand(anthropic, 'ANTHROPIC');
    // The SDK adds /v1 itself.
    const baseUrl = trimUrl(anthropic.baseUrl ?? ANTHROPIC).replace(/\/v1$/, '');
    const source = { provider, baseUrl, ...(anthropic.key === undefined ? {} : { key: anthropic.key }) } as const;
    return { source, model: settings.model || env.ANTHROPIC_MODEL || DEFAULT_ANTHROPIC_MODEL, because };
  }
  demand(openai, 'OPENAI');
  if (openai.baseUrl === undefined && openai.key?.startsWith('sk-ant-') === true) {
    throw notConfigured('OPENAI_API_KEY holds a key of Anthropic: put it into ANTHROPIC_API_KEY');
  }
  const baseUrl = trimUrl(openai.baseUrl ?? OPENAI);
  const key = openai.key === undefined ? {} : { key: openai.key };
  return {
    source: { provider, api: settings.api, baseUrl, ...key },
    model: settings.model || env.OPENAI_MODEL || DEFAULT_OPENAI_MODEL,
    because,
  };
}

interface Credentials {
  readonly key: string | undefined;
  readonly baseUrl: string | undefined;
}

function credentials(key: string | undefined, baseUrl: string | undefined): Credentials {
  return { key: key || undefined, baseUrl: baseUrl || undefined };
}

function choose(openai: Credentials, anthropic: Credentials): Source['provider'] {
  if (isSet(anthropic)) return 'anthropic';
  return isSet(openai) ? 'openai' : 'offline';
}

function isSet({ key, baseUrl }: Credentials): boolean {
  return key !== undefined || baseUrl !== undefined;
}

function demand(given: Credentials, prefix: 'OPENAI' | 'ANTHROPIC'): void {
  if (isSet(given)) return;
  throw notConfigured(
    `${prefix}_API_KEY is not set. Set it to your key, or ${prefix}_BASE_URL to the address of a compatible server`,
  );
}

function trimUrl(url: string): string {
  return url.replace(/\/+$/, '');
}

function notConfigured(detail: string): CinnabarError {
  return new CinnabarError('CINNABAR_LLM_NOT_CONFIGURED', { detail });
}
