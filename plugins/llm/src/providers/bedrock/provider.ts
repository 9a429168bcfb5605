import type { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk';
import { familyOf } from '../../traits.js';
import { sendMessages } from '../anthropic/messages.js';
import { type AnthropicSdk, CLAUDE, claudeOnBedrock, LIKE_CLAUDE, problemOf } from '../anthropic/provider.js';
import { defineProvider, httpUrl, keyVariable, NO_SDK_TIMEOUT_MS, nameVariable, vendorSecret } from '../definition.js';
import { type Account, readSdkError } from '../errors.js';
import type { ProviderCall } from '../provider.js';

interface BedrockSource {
  readonly region: string;
  readonly baseUrl: string;
  /** Absent: AWS's default chain is used (profiles, roles). */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

/** Anthropic's models through Amazon Bedrock: the same messages, other addresses, signatures and framing. */
export const BEDROCK = defineProvider({
  name: 'bedrock',
  title: 'Bedrock',
  autoRank: 4,
  because: 'BEDROCK_MODEL or its base URL is set',
  variables: { key: 'AWS_ACCESS_KEY_ID', baseUrl: 'BEDROCK_BASE_URL', model: 'BEDROCK_MODEL' },
  settings: {
    bedrockBaseUrl: httpUrl
      .optional()
      .describe('Address of Bedrock; by default BEDROCK_BASE_URL, or that of the region'),
  },
  environment: {
    AWS_REGION: nameVariable.optional().describe('Region of Bedrock; us-east-1 by default'),
    AWS_DEFAULT_REGION: nameVariable.optional().describe('The same as AWS_REGION'),
    AWS_ACCESS_KEY_ID: keyVariable
      .optional()
      .describe('Access key for Bedrock; without it, the profiles and roles of AWS are used'),
    AWS_SECRET_ACCESS_KEY: keyVariable.optional().describe('The secret that belongs to AWS_ACCESS_KEY_ID'),
    AWS_SESSION_TOKEN: keyVariable.optional().describe('Session token, for temporary credentials of AWS'),
    BEDROCK_BASE_URL: httpUrl.optional().describe('Address of Bedrock, where it is not that of the region'),
    BEDROCK_MODEL: nameVariable.optional().describe('The model or inference profile to use with Bedrock'),
  },
  vendorConfig: {
    region: nameVariable.min(1).max(50).exactOptional(),
    accessKeyId: vendorSecret.exactOptional(),
    secretAccessKey: vendorSecret.exactOptional(),
    sessionToken: vendorSecret.exactOptional(),
    aws_access_key: vendorSecret.exactOptional(),
    aws_secret_key: vendorSecret.exactOptional(),
    aws_session_token: vendorSecret.exactOptional(),
    aws_region: nameVariable.min(1).max(50).exactOptional(),
  },
  impliedBy: ['aws_access_key', 'aws_secret_key', 'aws_session_token', 'aws_region', 'accessKeyId'],
  keyIsOptional: true,
  // No default model: the models of an account, and their names, depend on its region.
  missingModel: 'a model or inference profile that your AWS account may use',
  partsOf: (settings, env): BedrockSettings => ({
    key: env.AWS_ACCESS_KEY_ID || undefined,
    secret: env.AWS_SECRET_ACCESS_KEY || undefined,
    sessionToken: env.AWS_SESSION_TOKEN || undefined,
    region: env.AWS_REGION || env.AWS_DEFAULT_REGION || undefined,
    baseUrl: settings.bedrockBaseUrl || env.BEDROCK_BASE_URL || undefined,
  }),
  vendorParts: (config) => ({
    key: config.accessKeyId ?? config.aws_access_key,
    secret: config.secretAccessKey ?? config.aws_secret_key,
    sessionToken: config.sessionToken ?? config.aws_session_token,
    region: config.region ?? config.aws_region,
    baseUrl: config.baseUrl,
  }),
  completed: (own, { region }) => ({ ...own, region: own.region ?? region }),
  // AWS credentials are often present for other purposes, so they alone do not select this provider.
  isSetUp: ({ baseUrl }, model) => baseUrl !== undefined || model !== undefined,
  problemWith({ key, secret }) {
    if ((key === undefined) === (secret === undefined)) return undefined;
    const missing = key === undefined ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY';
    return {
      environment: `${missing} is not set, but its counterpart is. Set both, or neither to use AWS's own profiles`,
      vendor: 'has one of aws_access_key and aws_secret_key, but not the other',
    };
  },
  source({ key, secret, sessionToken, region = 'us-east-1', baseUrl }): BedrockSource {
    const address = baseUrl?.replace(/\/+$/, '') ?? `https://bedrock-runtime.${region}.amazonaws.com`;
    if (key === undefined || secret === undefined) return { region, baseUrl: address };
    const token = sessionToken === undefined ? {} : { sessionToken };
    return { region, baseUrl: address, credentials: { accessKeyId: key, secretAccessKey: secret, ...token } };
  },
  details: ({ region }) => [['Region', region]],

  maxTemperature: 1,
  familyOf: (model) => claudeOnBedrock(familyOf(CLAUDE, model) ?? LIKE_CLAUDE, model),

  async loadSdk(): Promise<BedrockSdk> {
    const [{ AnthropicBedrock }, { APIError, APIConnectionError, APIUserAbortError }] = await Promise.all([
      import('@anthropic-ai/bedrock-sdk'),
      import('@anthropic-ai/sdk'),
    ]);
    return { AnthropicBedrock, APIError, APIConnectionError, APIUserAbortError };
  },
  client: (sdk, source) => createClient(sdk, source),
  modes: () => ['chat', 'prefill'],
  send: sendMessages,
  render: async (call, { source, sdk }) => bodyOf(call, await sdk(), source),
  account: accountOf,
  readError: (error, sdk) => readSdkError(error, sdk, problemOf),
});

interface BedrockSettings {
  readonly key?: string | undefined;
  readonly secret?: string | undefined;
  readonly sessionToken?: string | undefined;
  readonly region?: string | undefined;
  readonly baseUrl?: string | undefined;
}

/** The body that the SDK passes to `fetch`, since the SDK changes it when sending; unsigned and unsent. */
async function bodyOf(call: ProviderCall, sdk: BedrockSdk, source: BedrockSource): Promise<unknown> {
  let body: unknown;
  const client = createClient(sdk, source, async (_url, init) => {
    body = JSON.parse(String(init?.body));
    return Response.json({ message: 'not sent' }, { status: 400 });
  });
  await sendMessages(client, call).catch(() => undefined);
  return body;
}

function accountOf({ baseUrl, credentials }: BedrockSource): Account {
  const { host } = new URL(baseUrl);
  return {
    title: 'Bedrock',
    keyVariable: 'AWS_ACCESS_KEY_ID',
    secrets: credentials === undefined ? [] : Object.values(credentials),
    host,
    notFoundHint: 'is the model or inference profile right for this region?',
  };
}

type BedrockSdk = Pick<typeof import('@anthropic-ai/bedrock-sdk'), 'AnthropicBedrock'> &
  Pick<AnthropicSdk, 'APIError' | 'APIConnectionError' | 'APIUserAbortError'>;

/**
 * The SDK's client for one source. Without credentials, AWS's default chain is used (profiles, roles), but not for a server outside AWS: a proxy adds its own
 * signature.
 * @param unsent receives the requests instead of the network
 */
function createClient(
  sdk: BedrockSdk,
  { region, baseUrl, credentials }: BedrockSource,
  unsent?: typeof fetch,
): AnthropicBedrock {
  const options = {
    apiKey: null,
    awsRegion: region,
    baseURL: baseUrl,
    maxRetries: 0,
    timeout: NO_SDK_TIMEOUT_MS,
    logLevel: 'off' as const,
  };
  if (unsent !== undefined) return new sdk.AnthropicBedrock({ ...options, fetch: unsent, skipAuth: true });
  if (credentials === undefined) {
    return new sdk.AnthropicBedrock({ ...options, skipAuth: !isAmazon(new URL(baseUrl).hostname) });
  }
  const { accessKeyId, secretAccessKey, sessionToken = null } = credentials;
  return new sdk.AnthropicBedrock({
    ...options,
    awsAccessKey: accessKeyId,
    awsSecretKey: secretAccessKey,
    awsSessionToken: sessionToken,
  });
}

function isAmazon(host: string): boolean {
  return /(^|\.)(amazonaws\.com(\.cn)?|api\.aws)$/.test(host);
}
