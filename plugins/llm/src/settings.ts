import { z } from 'zod';
import type { ProviderDefinition } from './providers/definition.js';
import { MODEL_CORRECTION } from './traits.js';
import { vendorsOf } from './vendors.js';

/** The plugin's settings, including those of each provider. Only the bot's owner sets them: guilds choose neither vendors nor keys. */
export function settingsOf(providers: readonly ProviderDefinition[]) {
  const variables = providers.map((provider) => provider.variables);
  const withKeys = providers.filter(({ needsKey }) => needsKey).toSorted((a, b) => a.autoRank - b.autoRank);
  const own = Object.fromEntries(providers.flatMap(({ settings }) => Object.entries(settings)));
  return z.object({
    provider: z
      .enum(['auto', ...providers.map(({ name }) => name)])
      .default('auto')
      .describe(
        `Who answers when no vendors are set up. auto: ${oneOf(withKeys.map(({ title }) => title))}, whichever has a key or a base URL, else the offline model`,
      ),
    model: z
      .string()
      .trim()
      .optional()
      .describe(`The model's name; by default ${oneOf(variables.flatMap(({ model = [] }) => model))}`),
    embeddingModel: z
      .string()
      .trim()
      .optional()
      .describe(
        `The model for embeddings, which memory uses for search by meaning; by default ${oneOf(variables.flatMap(({ embeddingModel = [] }) => embeddingModel))}, and without those there are none`,
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
    models: z
      .record(z.string().min(1).max(200), MODEL_CORRECTION)
      .default({})
      .describe(
        'Corrections to what this program knows about a model: modes, images, contextTokens, cache, price (dollars per million tokens). By name, or by its beginning and *',
      ),
    vendors: vendorsOf(providers)
      .default({})
      .describe(
        'Several sources of models at once, by name: provider, config (apiKey, baseUrl, …; a dollar sign and a name in braces stands for an environment variable) and provides, patterns for the names of their models',
      ),
    ...own,
  });
}
export type GlobalSettings = z.output<ReturnType<typeof settingsOf>>;

/** The plugin's environment variables. Loose, since the setting `vendors` may refer to any variable. */
export function environmentOf(providers: readonly ProviderDefinition[]) {
  const own = Object.fromEntries(providers.flatMap(({ environment }) => Object.entries(environment)));
  return z.looseObject(own);
}
export type Environment = z.output<ReturnType<typeof environmentOf>>;

/** A list for sentences: `OpenAI, Google or Bedrock`. */
function oneOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
