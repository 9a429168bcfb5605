import type { Environment, GlobalSettings } from '../settings.js';
import { configuredVendor } from './configured.js';
import { configure, isAnthropicKey, notConfigured, partsFrom } from './environment.js';
import { type Source, sourceOf, type Vendor } from './source.js';

/** Which vendor answers for which model. */
export interface Routes {
  /** What answers when a request names no model. */
  readonly model: string;
  /** Why: for status lines. */
  readonly because: string;
  readonly vendors: readonly (Vendor & { readonly provides: readonly string[] })[];
  /** @throws CINNABAR_LLM_NOT_CONFIGURED when no vendor provides the model */
  vendorFor(model: string): Vendor;
  /** `undefined` when nobody has named a model for embeddings, or no vendor provides it. */
  embeddings(wanted?: string): EmbeddingRoute | undefined;
}

export interface Router {
  /** @throws CINNABAR_LLM_NOT_CONFIGURED with what is missing or wrong */
  routes(settings: GlobalSettings, env: Environment): Promise<Routes>;
}

/** Keeps the patterns that it has read, as long as the settings stay the same. */
export function createRouter(): Router {
  let known: { readonly settings: string; readonly patterns: ReadonlyMap<string, readonly NamePattern[]> } | undefined;

  const patternsOf = async ({ vendors }: GlobalSettings) => {
    const settings = JSON.stringify(vendors);
    if (known?.settings === settings) return known.patterns;
    const patterns = new Map<string, readonly NamePattern[]>();
    for (const [name, { provides }] of Object.entries(vendors)) patterns.set(name, await readPatterns(name, provides));
    known = { settings, patterns };
    return patterns;
  };

  return {
    async routes(settings, env) {
      const entries = Object.entries(settings.vendors);
      if (entries.length === 0 || settings.provider === 'offline') return singleRoute(settings, env);
      const patterns = await patternsOf(settings);
      const vendors = entries.map(([name, vendor]) => ({
        ...configuredVendor(name, vendor, settings, env),
        provides: vendor.provides,
      }));
      const providerOf = (model: string) =>
        vendors.find(({ name }) => patterns.get(name)?.some((matches) => matches(model)));
      const vendorFor = (model: string) => {
        const found = providerOf(model);
        if (found === undefined)
          throw notProvided(
            model,
            vendors.map(({ name }) => name),
          );
        return found;
      };
      const [first] = vendors.flatMap(({ provides }) => provides.flatMap((pattern) => plainName(pattern) ?? []));
      const model = settings.model || first;
      if (model === undefined)
        throw notConfigured('vendors are set up, but no model: set the setting model to one of theirs');
      vendorFor(model);
      return {
        model,
        vendors,
        vendorFor,
        embeddings: (wanted) => vendorsEmbeddingRoute(settings, env, providerOf, wanted),
        because: `${vendors.length === 1 ? 'one vendor is' : `${vendors.length} vendors are`} set up`,
      };
    },
  };
}

function singleRoute(settings: GlobalSettings, env: Environment): Routes {
  const { source, model, because } = configure(settings, env);
  const vendor = { name: source.provider, source };
  return {
    model,
    because,
    vendors: [{ ...vendor, provides: [] }],
    vendorFor: () => vendor,
    embeddings: (wanted) => embeddingRoute(settings, env, source, wanted),
  };
}

function notProvided(model: string, vendors: readonly string[]): Error {
  return notConfigured(
    `no vendor provides the model "${model.slice(0, 100)}" (there ${vendors.length === 1 ? 'is' : 'are'} ${vendors.join(', ')}). Add it to a vendor's provides`,
  );
}

/** Who makes embeddings, with which model. */
interface EmbeddingRoute {
  readonly vendor: Vendor;
  readonly model: string;
}

const WITH_EMBEDDINGS = ['openai', 'google'] as const;

/**
 * Without vendors set up: who answers, if it has embeddings, else the first that does and has a key or an address. So a bot that
 * talks through Anthropic can remember through OpenAI.
 * @param wanted by a request; otherwise what the owner has named. `undefined` when nobody has.
 */
function embeddingRoute(
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
function vendorsEmbeddingRoute(
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

/** Whether a model's name is one of those that a pattern describes, from its first letter to its last. */
type NamePattern = (model: string) => boolean;

const WITHOUT_MEANING = /^[\w:@/-]+$/;
const LONGEST_NAME = 300;

/**
 * Reads a vendor's `provides`. Patterns are those of RE2, which takes time in proportion to the name whatever the pattern: look-around
 * and back-references do not exist there and are refused, as are repetitions of more than 1,000.
 * @throws CINNABAR_LLM_NOT_CONFIGURED with vendor, pattern and what is wrong with it
 */
async function readPatterns(vendor: string, patterns: readonly string[]): Promise<readonly NamePattern[]> {
  if (patterns.every((pattern) => WITHOUT_MEANING.test(pattern)))
    return patterns.map((name) => (model) => model === name);
  const { RE2JS } = await import('re2js');
  return patterns.map((pattern) => {
    try {
      const compiled = RE2JS.compile(pattern);
      return (model) => model.length <= LONGEST_NAME && compiled.matches(model);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      throw notConfigured(`the vendor "${vendor}" has a pattern in provides that cannot be used: ${problem}`);
    }
  });
}

/** The one model that a pattern means, if it looks like a name: a dot is then taken for itself. */
function plainName(pattern: string): string | undefined {
  const name = pattern.replaceAll('\\.', '.');
  return WITHOUT_MEANING.test(name.replaceAll('.', '')) ? name : undefined;
}
