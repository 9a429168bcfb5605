import { z } from 'zod';
import { PROVIDER_NAMES } from './source.js';

/** Longer patterns are no names of models. */
export const LONGEST_PATTERN = 200;
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
export const CONFIG = z.strictObject({
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

export const VENDOR = z.strictObject({
  provider: z.enum(PROVIDER_NAMES).exactOptional(),
  config: CONFIG.default({}),
  provides: z.array(z.string().min(1).max(LONGEST_PATTERN)).min(1).max(100),
});
export type VendorSettings = z.output<typeof VENDOR>;

export const VENDORS = z.record(z.string().regex(/^[\w-]{1,50}$/), VENDOR);
