import { type Environment, type GlobalSettings, isHttpUrl } from '../settings.js';
import type { VendorConfig, VendorSettings } from './configuration.js';
import { notConfigured, partsFrom } from './environment.js';
import { PROVIDER_NAMES, type ProviderName, type SourceParts, sourceOf, type Vendor } from './source.js';

/**
 * One entry of the setting `vendors`. A key of the environment goes only where the environment sends it: a vendor with an address of
 * its own needs a key of its own, or none.
 * @throws CINNABAR_LLM_NOT_CONFIGURED
 */
export function configuredVendor(
  name: string,
  { provider: named, config: written }: VendorSettings,
  settings: GlobalSettings,
  env: Environment,
): Vendor {
  const config = resolveReferences(name, written, env);
  const provider = named ?? impliedProvider(name, config);
  if (provider === undefined) {
    throw notConfigured(`the vendor "${name}" has no provider. Set it to one of ${PROVIDER_NAMES.join(', ')}`);
  }
  const { baseUrl } = config;
  if (baseUrl !== undefined && !isHttpUrl(baseUrl)) {
    throw notConfigured(`the baseUrl of the vendor "${name}" is not an http or https address`);
  }
  if (provider !== 'openai' && (config.headers !== undefined || config.body !== undefined)) {
    throw notConfigured(`the vendor "${name}" has headers or body, which only servers with an API of OpenAI's take`);
  }
  const own = ownParts(provider, config);
  const fromOutside = partsFrom(provider, settings, env);
  const hasOwn = baseUrl !== undefined || own.key !== undefined || own.accessKeyId !== undefined;
  const parts = hasOwn ? { ...own, region: own.region ?? fromOutside.region } : { ...fromOutside, ...defined(own) };
  if (provider !== 'bedrock' && parts.key === undefined && parts.baseUrl === undefined) {
    throw notConfigured(`the vendor "${name}" has neither a key (apiKey) nor a baseUrl`);
  }
  if (provider === 'bedrock' && (parts.accessKeyId === undefined) !== (parts.secretAccessKey === undefined)) {
    throw notConfigured(`the vendor "${name}" has one of aws_access_key and aws_secret_key, but not the other`);
  }
  return { name, source: sourceOf(provider, parts) };
}

function resolveReferences(vendor: string, { headers, body, ...config }: VendorConfig, env: Environment): VendorConfig {
  const resolve = (value: string): string => {
    const variable = /^\$\{(\w+)\}$/.exec(value)?.[1];
    if (variable === undefined) return value;
    const found = env[variable];
    if (typeof found === 'string' && found !== '') return found;
    throw notConfigured(`the vendor "${vendor}" refers to the environment variable ${variable}, which is not set`);
  };
  const resolved = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, resolve(value)]));
  const header = (name: string, value: string) => {
    // A header cannot carry anything else, and the error that would follow shows the value.
    if (/^[\x20-\x7e]*$/.test(value)) return value;
    throw notConfigured(`the header ${name} of the vendor "${vendor}" must be one line of plain text`);
  };
  return {
    ...resolved(config),
    ...(headers === undefined
      ? {}
      : {
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name, header(name, resolve(value))]),
          ),
        }),
    ...(body === undefined ? {} : { body }),
  };
}

function impliedProvider(name: string, config: VendorConfig): ProviderName | undefined {
  if (config.anthropic_api_key !== undefined) return 'anthropic';
  if (config.openai_api_key !== undefined) return 'openai';
  if (config.google_api_key !== undefined) return 'google';
  if (Object.keys(config).some((key) => key.startsWith('aws_') || key === 'accessKeyId')) return 'bedrock';
  return PROVIDER_NAMES.find((provider) => provider === name);
}

function ownParts(provider: ProviderName, config: VendorConfig): SourceParts {
  const keyOf = {
    anthropic: config.anthropic_api_key,
    openai: config.openai_api_key,
    google: config.google_api_key,
    bedrock: undefined,
  };
  return {
    key: config.apiKey ?? keyOf[provider],
    baseUrl: config.baseUrl,
    api: config.api,
    region: config.region ?? config.aws_region,
    accessKeyId: config.accessKeyId ?? config.aws_access_key,
    secretAccessKey: config.secretAccessKey ?? config.aws_secret_key,
    sessionToken: config.sessionToken ?? config.aws_session_token,
    headers: config.headers,
    body: config.body,
  };
}

function defined(parts: SourceParts): SourceParts {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}
