import { type Configuration, z } from '@cinnabar/sdk';
import type { GlobalSettings } from '../settings.js';
import { notConfigured } from './environment.js';
import { PROVIDER_NAMES } from './source.js';

/** Longer patterns are no names of models. */
const LONGEST_PATTERN = 200;
const secret = z.string().trim().min(1).max(4000).meta({ secret: true });

const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** What the request itself says: a field of the same name would make another request of it. */
const OWN_FIELDS = ['model', 'messages', 'input', 'instructions', 'stream', 'stream_options', 'tools', 'store'];

const headers = z
  .record(
    z.string().regex(TOKEN, 'must be the name of a header'),
    z
      .string()
      .trim()
      .min(1)
      .max(4000)
      .regex(/^[\x20-\x7e]*$/, 'must be one line of plain text')
      .meta({ secret: true }),
  )
  .refine((value) => Object.keys(value).length <= 20, 'must be 20 headers at most');
const body = z
  .record(z.string().min(1).max(100), z.json())
  .refine((value) => Object.keys(value).every((field) => !OWN_FIELDS.includes(field)), {
    message: `must not hold ${OWN_FIELDS.join(', ')}: these are the request's own`,
  });

/** `${NAME}` stands for the environment variable NAME, anywhere in the configuration of a vendor. */
const CONFIG = z.strictObject({
  apiKey: secret.exactOptional(),
  baseUrl: z.string().trim().min(1).max(1000).exactOptional(),
  api: z.enum(['responses', 'chat']).exactOptional(),
  region: z.string().trim().min(1).max(50).exactOptional(),
  accessKeyId: secret.exactOptional(),
  secretAccessKey: secret.exactOptional(),
  sessionToken: secret.exactOptional(),
  anthropic_api_key: secret.exactOptional(),
  openai_api_key: secret.exactOptional(),
  google_api_key: secret.exactOptional(),
  aws_access_key: secret.exactOptional(),
  aws_secret_key: secret.exactOptional(),
  aws_session_token: secret.exactOptional(),
  aws_region: z.string().trim().min(1).max(50).exactOptional(),
  /** Sent with each request to a compatible server, beside what the request itself needs. */
  headers: headers.exactOptional(),
  /** Fields of the body for a compatible server; they win over the sampling parameters of a request. */
  body: body.exactOptional(),
});
export type VendorConfig = z.output<typeof CONFIG>;

const VENDOR = z.strictObject({
  provider: z.enum(PROVIDER_NAMES).exactOptional(),
  config: CONFIG.default({}),
  provides: z.array(z.string().min(1).max(LONGEST_PATTERN)).min(1).max(100),
});
export type VendorSettings = z.output<typeof VENDOR>;

export const VENDORS = z.record(z.string().regex(/^[\w-]{1,50}$/), VENDOR);

/** The keys of the configuration files that this plugin reads. */
export const FILE_KEYS = z.object({
  vendors: VENDORS.optional().describe(
    'Several sources of models at once, by name: provider, config (keys as references to the environment) and provides, patterns for the names of their models. In shared.yaml, or in the file of a bot',
  ),
});

/**
 * The settings together with the vendors of `shared.yaml` and of the bot's file. Where two have a vendor of one name, the narrower file
 * wins, and `!set llm vendors` over all files.
 * @throws CINNABAR_LLM_NOT_CONFIGURED with file, line and key
 */
export async function withVendorsOfFiles(
  settings: GlobalSettings,
  configuration: Pick<Configuration, 'layers'>,
): Promise<GlobalSettings> {
  const found: GlobalSettings['vendors'][] = [];
  for (const { source, values, lineOf } of await configuration.layers(null)) {
    // `vendors:` with everything below it commented out.
    if (values.vendors === undefined || values.vendors === null) continue;
    const { data, error } = FILE_KEYS.safeParse({ vendors: values.vendors });
    if (data?.vendors !== undefined) found.push(data.vendors);
    const [issue] = error?.issues ?? [];
    if (issue === undefined) continue;
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    const key = [...issue.path, ...unknown].map((part) => (typeof part === 'symbol' ? String(part) : part));
    throw notConfigured(`${source}:${lineOf(key)}: ${key.join('.')}: ${issue.message}`);
  }
  return { ...settings, vendors: Object.assign({}, ...found, settings.vendors) };
}
