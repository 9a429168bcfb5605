import { z } from 'zod';
import { MODEL_CORRECTION } from './models/traits.js';
import { VENDORS } from './vendors/configuration.js';

const PROVIDERS = ['auto', 'openai', 'anthropic', 'google', 'bedrock', 'offline'] as const;
const OPENAI_APIS = ['responses', 'chat'] as const;

const httpUrl = z
  .string()
  .trim()
  .refine(
    (value) => value === '' || isHttpUrl(value),
    'must be an http or https address without a user name, such as http://localhost:11434/v1',
  );

/** All of it is the bot owner's: a guild chooses neither vendors nor keys. */
export const GLOBAL_SETTINGS = z.object({
  provider: z
    .enum(PROVIDERS)
    .default('auto')
    .describe(
      'Who answers when no vendors are set up. auto: Anthropic, OpenAI or Google, whichever has a key or a base URL, else the offline model',
    ),
  model: z
    .string()
    .trim()
    .optional()
    .describe("The model's name; by default OPENAI_MODEL, ANTHROPIC_MODEL, GOOGLE_MODEL or BEDROCK_MODEL"),
  embeddingModel: z
    .string()
    .trim()
    .optional()
    .describe(
      'The model for embeddings, which memory uses for search by meaning; by default OPENAI_EMBEDDING_MODEL or GOOGLE_EMBEDDING_MODEL, and without those there are none',
    ),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe(
      "How much the model varies its words, 0 to 2; by default the model's own. Ignored where a model refuses it",
    ),
  maxTokens: z
    .number()
    .int()
    .min(16)
    .max(1_000_000)
    .optional()
    .describe('The longest answer, in tokens; by default as long as the provider allows, 8192 for Anthropic'),
  maxAnswerBytes: z
    .number()
    .int()
    .min(10_000)
    .max(50_000_000)
    .default(1_000_000)
    .describe('How much of an answer is read, in bytes; a longer one ends there, as at its length limit'),
  maxToolCalls: z
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(20)
    .describe('How many tools one answer may ask for; the model is told that the rest was not run'),
  timeoutMs: z
    .number()
    .int()
    .min(1_000)
    .max(3_600_000)
    .default(120_000)
    .describe('How long one attempt may take, in milliseconds'),
  deadlineMs: z
    .number()
    .int()
    .min(1_000)
    .max(3_600_000)
    .default(120_000)
    .describe(
      'How long a request may take in all, with repetitions, pauses and fallback models, in milliseconds; never less than timeoutMs',
    ),
  retries: z.number().int().min(0).max(10).default(3).describe('How often a failed request is repeated'),
  retryDelayMs: z
    .number()
    .int()
    .min(0)
    .max(60_000)
    .default(1_000)
    .describe('The pause before each repetition, in milliseconds; longer where the provider asks for it'),
  stream: z
    .boolean()
    .default(true)
    .describe('Whether answers are received piece by piece, which keeps long ones from timing out on the way'),
  keepBodies: z
    .boolean()
    .default(false)
    .describe(
      'Whether the bodies of the last 20 requests to models, and of the answers, are kept in memory for `llm requests`: all that members said is in them',
    ),
  images: z.boolean().default(true).describe('Whether the model can see images; off, each is replaced by a note'),
  api: z
    .enum(OPENAI_APIS)
    .default('responses')
    .describe('Which API of OpenAI: responses, or chat (Chat Completions) for compatible servers that have only that'),
  models: z
    .record(z.string().min(1).max(200), MODEL_CORRECTION)
    .default({})
    .describe(
      'What is known better of a model than this program knows: modes, images, contextTokens, cache, price (dollars per million tokens). By name, or by its beginning and *',
    ),
  vendors: VENDORS.default({}).describe(
    'Several sources of models at once, by name: provider, config (apiKey, baseUrl, …; a dollar sign and a name in braces stands for an environment variable) and provides, patterns for the names of their models',
  ),
  openaiBaseUrl: httpUrl.optional().describe('Address of an OpenAI-compatible server; by default OPENAI_BASE_URL'),
  anthropicBaseUrl: httpUrl
    .optional()
    .describe('Address of an Anthropic-compatible server; by default ANTHROPIC_BASE_URL'),
  googleBaseUrl: httpUrl.optional().describe('Address of a Gemini-compatible server; by default GOOGLE_BASE_URL'),
  bedrockBaseUrl: httpUrl.optional().describe('Address of Bedrock; by default BEDROCK_BASE_URL, or that of the region'),
});
export type GlobalSettings = z.output<typeof GLOBAL_SETTINGS>;

// A header cannot carry anything else, and the error that would follow shows the key.
const key = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]*$/, 'must be the key alone, without spaces or line breaks')
  .meta({ secret: true });

/** Everything else is there, too: the setting vendors may refer to any variable. */
export const ENVIRONMENT = z.looseObject({
  OPENAI_API_KEY: key.optional().describe('Key for OpenAI, or for the compatible server at OPENAI_BASE_URL'),
  OPENAI_BASE_URL: httpUrl
    .optional()
    .describe('Address of an OpenAI-compatible server (xAI, Ollama, vLLM, llama.cpp), usually ending in /v1'),
  OPENAI_MODEL: z.string().trim().optional().describe('The model to use with OpenAI or the compatible server'),
  OPENAI_EMBEDDING_MODEL: z
    .string()
    .trim()
    .optional()
    .describe('The model for embeddings of OpenAI or the compatible server, such as text-embedding-3-small'),
  ANTHROPIC_API_KEY: key.optional().describe('Key for Anthropic'),
  ANTHROPIC_BASE_URL: httpUrl.optional().describe('Address of an Anthropic-compatible server'),
  ANTHROPIC_MODEL: z.string().trim().optional().describe('The model to use with Anthropic'),
  GOOGLE_API_KEY: key.optional().describe('Key for the Gemini API'),
  GEMINI_API_KEY: key.optional().describe('The same as GOOGLE_API_KEY'),
  GOOGLE_BASE_URL: httpUrl.optional().describe('Address of a Gemini-compatible server'),
  GOOGLE_MODEL: z.string().trim().optional().describe('The model to use with Google'),
  GOOGLE_EMBEDDING_MODEL: z
    .string()
    .trim()
    .optional()
    .describe('The model for embeddings of Google, such as gemini-embedding-001'),
  AWS_REGION: z.string().trim().optional().describe('Region of Bedrock; us-east-1 by default'),
  AWS_DEFAULT_REGION: z.string().trim().optional().describe('The same as AWS_REGION'),
  AWS_ACCESS_KEY_ID: key
    .optional()
    .describe('Access key for Bedrock; without it, the profiles and roles of AWS are used'),
  AWS_SECRET_ACCESS_KEY: key.optional().describe('The secret that belongs to AWS_ACCESS_KEY_ID'),
  AWS_SESSION_TOKEN: key.optional().describe('Session token, for temporary credentials of AWS'),
  BEDROCK_BASE_URL: httpUrl.optional().describe('Address of Bedrock, where it is not that of the region'),
  BEDROCK_MODEL: z.string().trim().optional().describe('The model or inference profile to use with Bedrock'),
});
export type Environment = z.output<typeof ENVIRONMENT>;

/** Whether a text is an http or https address without a user name or password in it. */
export function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}
