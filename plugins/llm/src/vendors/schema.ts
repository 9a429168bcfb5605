import { z } from 'zod';
import { PROVIDER_NAMES } from './source.js';

/** Longer patterns are no names of models. */
export const LONGEST_PATTERN = 200;
const secret = z.string().trim().min(1).max(4000).meta({ secret: true });

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
});
export type VendorConfig = z.output<typeof CONFIG>;

export const VENDOR = z.strictObject({
  provider: z.enum(PROVIDER_NAMES).exactOptional(),
  config: CONFIG.default({}),
  provides: z.array(z.string().min(1).max(LONGEST_PATTERN)).min(1).max(100),
});
export type VendorSettings = z.output<typeof VENDOR>;

export const VENDORS = z.record(z.string().regex(/^[\w-]{1,50}$/), VENDOR);
