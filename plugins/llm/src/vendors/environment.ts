import { CinnabarError } from '@cinnabar/sdk';
import type { Environment, GlobalSettings } from '../settings.js';
import { type ProviderName, type Source, type SourceParts, sourceOf } from './source.js';

const DEFAULT_MODELS: Readonly<Record<ProviderName, string | undefined>> = {
  openai: 'gpt-5.4-mini',
  anthropic: 'claude-sonnet-5',
  google: 'gemini-3.8-flash',
  // Which models an account may use, and by which name, depends on its region.
  bedrock: undefined,
};

export interface Configuration {
  readonly source: Source;
  readonly model: string;
  /** Why this provider: for status lines. */
  readonly because: string;
}

/**
 * Who answers when no vendors are set up. A setting wins over the variable of the same meaning.
 * @throws CINNABAR_LLM_NOT_CONFIGURED with the variable that is missing or wrong
 */
export function configure(settings: GlobalSettings, env: Environment): Configuration {
  const provider = settings.provider === 'auto' ? choose(settings, env) : settings.provider;
  if (provider === 'offline') {
    const because =
      settings.provider === 'auto' ? 'neither a key nor a base URL is set' : 'the setting provider is offline';
    return { source: { provider }, model: 'offline', because };
  }
  const parts = partsFrom(provider, settings, env);
  demand(provider, parts);
  const model = settings.model || modelFrom(provider, env) || DEFAULT_MODELS[provider];
  if (model === undefined) {
    throw notConfigured(
      'BEDROCK_MODEL is not set. Set it, or the setting model, to a model or inference profile that your AWS account may use',
    );
  }
  return {
    source: sourceOf(provider, parts),
    model,
    because:
      settings.provider === 'auto' ? `${VARIABLES[provider].because} is set` : `the setting provider is ${provider}`,
  };
}

/** What settings and environment hold for a provider. */
export function partsFrom(provider: ProviderName, settings: GlobalSettings, env: Environment): SourceParts {
  switch (provider) {
    case 'openai':
      return {
        key: env.OPENAI_API_KEY || undefined,
        baseUrl: settings.openaiBaseUrl || env.OPENAI_BASE_URL || undefined,
        api: settings.api,
      };
    case 'anthropic':
      return {
        key: env.ANTHROPIC_API_KEY || undefined,
        baseUrl: settings.anthropicBaseUrl || env.ANTHROPIC_BASE_URL || undefined,
      };
    case 'google':
      return {
        key: env.GOOGLE_API_KEY || env.GEMINI_API_KEY || undefined,
        baseUrl: settings.googleBaseUrl || env.GOOGLE_BASE_URL || undefined,
      };
    case 'bedrock':
      return {
        baseUrl: settings.bedrockBaseUrl || env.BEDROCK_BASE_URL || undefined,
        region: env.AWS_REGION || env.AWS_DEFAULT_REGION || undefined,
        accessKeyId: env.AWS_ACCESS_KEY_ID || undefined,
        secretAccessKey: env.AWS_SECRET_ACCESS_KEY || undefined,
        sessionToken: env.AWS_SESSION_TOKEN || undefined,
      };
  }
}

const VARIABLES = {
  openai: { key: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL', because: 'OPENAI_API_KEY or its base URL' },
  anthropic: { key: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL', because: 'ANTHROPIC_API_KEY or its base URL' },
  google: { key: 'GOOGLE_API_KEY', baseUrl: 'GOOGLE_BASE_URL', because: 'GOOGLE_API_KEY or its base URL' },
  bedrock: { key: 'AWS_ACCESS_KEY_ID', baseUrl: 'BEDROCK_BASE_URL', because: 'BEDROCK_MODEL or its base URL' },
} as const;

function modelFrom(provider: ProviderName, env: Environment): string | undefined {
  const models = {
    openai: env.OPENAI_MODEL,
    anthropic: env.ANTHROPIC_MODEL,
    google: env.GOOGLE_MODEL,
    bedrock: env.BEDROCK_MODEL,
  };
  return models[provider];
}

// Credentials of AWS are there for many reasons: they alone choose nothing.
function choose(settings: GlobalSettings, env: Environment): ProviderName | 'offline' {
  const isSet = (provider: ProviderName) => {
    const { key, baseUrl } = partsFrom(provider, settings, env);
    return key !== undefined || baseUrl !== undefined || (provider === 'bedrock' && (env.BEDROCK_MODEL || '') !== '');
  };
  return (['anthropic', 'openai', 'google', 'bedrock'] as const).find(isSet) ?? 'offline';
}

function demand(provider: ProviderName, { key, baseUrl, accessKeyId, secretAccessKey }: SourceParts): void {
  if (provider === 'bedrock') {
    if ((accessKeyId === undefined) === (secretAccessKey === undefined)) return;
    const missing = accessKeyId === undefined ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY';
    throw notConfigured(
      `${missing} is not set, but its counterpart is. Set both, or neither to use AWS's own profiles`,
    );
  }
  if (key === undefined && baseUrl === undefined) {
    const names = VARIABLES[provider];
    throw notConfigured(
      `${names.key} is not set. Set it to your key, or ${names.baseUrl} to the address of a compatible server`,
    );
  }
  if (isAnthropicKey(provider, { key, baseUrl })) {
    throw notConfigured('OPENAI_API_KEY holds a key of Anthropic: put it into ANTHROPIC_API_KEY');
  }
}

/** Whether OpenAI would be sent a key of Anthropic's. */
export function isAnthropicKey(provider: ProviderName, { key, baseUrl }: SourceParts): boolean {
  return provider === 'openai' && baseUrl === undefined && key?.startsWith('sk-ant-') === true;
}

export function notConfigured(detail: string): CinnabarError {
  return new CinnabarError('CINNABAR_LLM_NOT_CONFIGURED', { detail });
}
