import { CinnabarError, type Configuration } from '@cinnabar/sdk';
import { z } from 'zod';
import {
  COMMON_VENDOR_CONFIG,
  type Connection,
  isHttpUrl,
  type ProviderDefinition,
  type VendorConfig,
} from './providers/definition.js';
import type { Environment, GlobalSettings } from './settings.js';

/** A connection with the vendor's configured name, or the provider's. */
export interface Vendor extends Connection {
  readonly name: string;
}

/** Longer patterns cannot be names of models. */
const LONGEST_PATTERN = 200;

/** The setting `vendors`, by name. */
export function vendorsOf(providers: readonly ProviderDefinition[]) {
  const own = Object.fromEntries(providers.flatMap(({ vendorConfig }) => Object.entries(vendorConfig)));
  const vendor = z.strictObject({
    provider: z.enum(connectable(providers).map(({ name }) => name)).exactOptional(),
    config: z.strictObject({ ...COMMON_VENDOR_CONFIG, ...own }).default({}),
    provides: z.array(z.string().min(1).max(LONGEST_PATTERN)).min(1).max(100),
  });
  return z.record(z.string().regex(/^[\w-]{1,50}$/), vendor);
}
type VendorSettings = GlobalSettings['vendors'][string];

/** The keys of the configuration files that this plugin reads. */
export function fileKeysOf(providers: readonly ProviderDefinition[]) {
  return z.object({
    vendors: vendorsOf(providers)
      .optional()
      .describe(
        'Several sources of models at once, by name: provider, config (keys as references to the environment) and provides, patterns for the names of their models. In shared.yaml, or in the file of a bot',
      ),
  });
}

function connectable(providers: readonly ProviderDefinition[]): readonly ProviderDefinition[] {
  return providers.filter(({ fromVendor }) => fromVendor !== undefined);
}

/**
 * The settings together with the vendors of `shared.yaml` and of the bot's file. When two define a vendor with the same name, the narrower file takes
 * precedence, and `!set llm vendors` over all files.
 * @throws CINNABAR_LLM_NOT_CONFIGURED with file, line and key
 */
export async function withVendorsOfFiles(
  settings: GlobalSettings,
  fileKeys: ReturnType<typeof fileKeysOf>,
  configuration: Pick<Configuration, 'layers'>,
): Promise<GlobalSettings> {
  const found: GlobalSettings['vendors'][] = [];
  for (const { source, values, lineOf } of await configuration.layers(null)) {
    // `vendors:` whose lines are all commented out.
    if (values.vendors === undefined || values.vendors === null) continue;
    const { data, error } = fileKeys.safeParse({ vendors: values.vendors });
    if (data?.vendors !== undefined) found.push(data.vendors);
    const [issue] = error?.issues ?? [];
    if (issue === undefined) continue;
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    const key = [...issue.path, ...unknown].map((part) => (typeof part === 'symbol' ? String(part) : part));
    throw notConfigured(`${source}:${lineOf(key)}: ${key.join('.')}: ${issue.message}`);
  }
  return { ...settings, vendors: Object.assign({}, ...found, settings.vendors) };
}

/**
 * A vendor of the setting `vendors`, with the references in its configuration resolved.
 * @throws CINNABAR_LLM_NOT_CONFIGURED
 */
export function configuredVendor(
  providers: readonly ProviderDefinition[],
  name: string,
  { provider: named, config: written }: VendorSettings,
  settings: GlobalSettings,
  env: Environment,
): Vendor {
  const config = resolveReferences(name, written, env);
  const known = connectable(providers);
  const definition = known.find((one) => one.name === named) ?? impliedProvider(known, name, config);
  if (definition?.fromVendor === undefined) {
    const names = known.map((one) => one.name).join(', ');
    throw notConfigured(`the vendor "${name}" has no provider. Set it to one of ${names}`);
  }
  if (config.baseUrl !== undefined && !isHttpUrl(config.baseUrl)) {
    throw notConfigured(`the baseUrl of the vendor "${name}" is not an http or https address`);
  }
  if (!definition.takesHeadersAndBody && (config.headers !== undefined || config.body !== undefined)) {
    throw notConfigured(`the vendor "${name}" has headers or body, which only servers with an API of OpenAI's take`);
  }
  const setup = definition.fromVendor(config, settings, env);
  if (setup.problem !== undefined) throw notConfigured(`the vendor "${name}" ${setup.problem}`);
  return { name, ...setup.connection };
}

/** The provider that the keys of a configuration imply, otherwise the one with the vendor's name. */
function impliedProvider(
  providers: readonly ProviderDefinition[],
  vendor: string,
  config: VendorConfig,
): ProviderDefinition | undefined {
  const byRank = providers.toSorted((one, other) => one.autoRank - other.autoRank);
  return (
    byRank.find(({ impliedBy }) => impliedBy.some((key) => key in config)) ??
    providers.find(({ name }) => name === vendor)
  );
}

function resolveReferences(vendor: string, { headers, body, ...config }: VendorConfig, env: Environment): VendorConfig {
  const resolve = (value: unknown): unknown => {
    const variable = typeof value === 'string' ? /^\$\{(\w+)\}$/.exec(value)?.[1] : undefined;
    if (variable === undefined) return value;
    const found = env[variable];
    if (typeof found === 'string' && found !== '') return found;
    throw notConfigured(`the vendor "${vendor}" refers to the environment variable ${variable}, which is not set`);
  };
  const header = (name: string, value: unknown) => {
    // Other characters are not allowed in a header, and the resulting error would show the value.
    if (typeof value === 'string' && /^[\x20-\x7e]*$/.test(value)) return value;
    throw notConfigured(`the header ${name} of the vendor "${vendor}" must be one line of plain text`);
  };
  return {
    ...Object.fromEntries(Object.entries(config).map(([key, value]) => [key, resolve(value)])),
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

export function notConfigured(detail: string): CinnabarError {
  return new CinnabarError('CINNABAR_LLM_NOT_CONFIGURED', { detail });
}
