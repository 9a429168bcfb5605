import type { Environment, GlobalSettings } from '../settings.js';
import { isAnthropicKey, partsFrom } from './single.js';
import { type Source, sourceOf, type Vendor } from './source.js';

/** Who makes embeddings, with which model. */
export interface EmbeddingRoute {
  readonly vendor: Vendor;
  readonly model: string;
}

const WITH_EMBEDDINGS = ['openai', 'google'] as const;

/**
 * Without vendors set up: who answers, if it has embeddings, else the first that does and has a key or an address. So a bot that
 * talks through Anthropic can remember through OpenAI.
 * @param wanted by a request; otherwise what the owner has named. `undefined` when nobody has.
 */
export function embeddingRoute(
  settings: GlobalSettings,
  env: Environment,
  answers: Source,
  wanted: string | undefined,
): EmbeddingRoute | undefined {
  if (settings.provider === 'offline') return undefined;
  const order = [...WITH_EMBEDDINGS].sort(
    (one, other) => Number(other === answers.provider) - Number(one === answers.provider),
  );
  for (const provider of order) {
    const parts = partsFrom(provider, settings, env);
    const model = wanted || settings.embeddingModel || modelsFrom(env)[provider];
    const isSetUp = (parts.key !== undefined || parts.baseUrl !== undefined) && !isAnthropicKey(provider, parts);
    if (model && isSetUp) {
      return { model, vendor: { name: provider, source: sourceOf(provider, parts) } };
    }
  }
  return undefined;
}

/** With vendors set up: the model that was named, of the vendor that provides it. */
export function vendorsEmbeddingRoute(
  settings: GlobalSettings,
  env: Environment,
  providerOf: (model: string) => Vendor | undefined,
  wanted: string | undefined,
): EmbeddingRoute | undefined {
  const { openai, google } = modelsFrom(env);
  const model = wanted || settings.embeddingModel || openai || google;
  const vendor = model ? providerOf(model) : undefined;
  return model && vendor ? { model, vendor } : undefined;
}

function modelsFrom({ OPENAI_EMBEDDING_MODEL: openai, GOOGLE_EMBEDDING_MODEL: google }: Environment) {
  return { openai, google };
}
