import { t, translated } from '@cinnabar/sdk';
import type { ProviderDefinition } from './providers/definition.js';
import type { Environment, GlobalSettings } from './settings.js';
import { configuredVendor, notConfigured, type Vendor } from './vendors.js';

/** Selects the vendor for a model. */
export interface Routes {
  /** The route of requests that name no model. */
  readonly model: string;
  /** Why this provider was selected, for status lines. */
  because(): string;
  readonly vendors: readonly (Vendor & { readonly provides: readonly string[] })[];
  /** @throws CINNABAR_LLM_NOT_CONFIGURED when no vendor provides the model */
  vendorFor(model: string): Vendor;
  /** `undefined` when the owner has named no model for embeddings, or no vendor provides it. */
  embeddings(wanted?: string): EmbeddingRoute | undefined;
}

export interface Router {
  /** @throws CINNABAR_LLM_NOT_CONFIGURED with the missing or invalid configuration */
  routes(settings: GlobalSettings, env: Environment): Promise<Routes>;
}

/** Caches the compiled patterns until the settings change. */
export function createRouter(providers: readonly ProviderDefinition[]): Router {
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
      const isOneModel = providers.some(({ name, onlyModel }) => name === settings.provider && onlyModel !== undefined);
      if (entries.length === 0 || isOneModel) return singleRoute(providers, settings, env);
      const patterns = await patternsOf(settings);
      const vendors = entries.map(([name, vendor]) => ({
        ...configuredVendor(providers, name, vendor, settings, env),
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
        embeddings: (wanted) => vendorsEmbeddingRoute(providers, settings, env, providerOf, wanted),
        because: () =>
          t('{count, plural, one {one vendor is} other {# vendors are}} set up', { count: vendors.length }),
      };
    },
  };
}

/**
 * The source when no vendors are configured.
 * @throws CINNABAR_LLM_NOT_CONFIGURED with the missing or invalid variable
 */
function singleRoute(providers: readonly ProviderDefinition[], settings: GlobalSettings, env: Environment): Routes {
  const isAuto = settings.provider === 'auto';
  const byRank = providers.toSorted((one, other) => one.autoRank - other.autoRank);
  const definition = isAuto
    ? byRank.find((provider) => provider.fromEnvironment(settings, env).isSetUp)
    : providers.find(({ name }) => name === settings.provider);
  if (definition === undefined) throw notConfigured(`there is no provider ${settings.provider}`);
  const setup = definition.fromEnvironment(settings, env);
  if (setup.problem !== undefined) throw notConfigured(setup.problem);
  const model = definition.onlyModel ?? (settings.model || setup.model);
  if (model === undefined) throw notConfigured(setup.missingModel);
  const vendor = { name: definition.name, ...setup.connection };
  return {
    model,
    because: () =>
      isAuto ? translated(definition.because) : t('the setting provider is {provider}', { provider: definition.name }),
    vendors: [{ ...vendor, provides: [] }],
    vendorFor: () => vendor,
    embeddings: (wanted) => embeddingRoute(providers, settings, env, definition, wanted),
  };
}

function notProvided(model: string, vendors: readonly string[]): Error {
  return notConfigured(
    `no vendor provides the model "${model.slice(0, 100)}" (there ${vendors.length === 1 ? 'is' : 'are'} ${vendors.join(', ')}). Add it to a vendor's provides`,
  );
}

/** The source of embeddings, and its model. */
interface EmbeddingRoute {
  readonly vendor: Vendor;
  readonly model: string;
}

function embedders(providers: readonly ProviderDefinition[]): readonly ProviderDefinition[] {
  return providers.filter(({ variables }) => variables.embeddingModel !== undefined);
}

/**
 * Without configured vendors: the answering provider if it has embeddings, otherwise the first one that has them and a key or an address. So a bot can use
 * Anthropic for answers and OpenAI for embeddings.
 * @param wanted the model of the request; by default the owner's model for embeddings
 */
function embeddingRoute(
  providers: readonly ProviderDefinition[],
  settings: GlobalSettings,
  env: Environment,
  answers: ProviderDefinition,
  wanted: string | undefined,
): EmbeddingRoute | undefined {
  if (answers.onlyModel !== undefined) return undefined;
  const order = embedders(providers).toSorted((one, other) => Number(other === answers) - Number(one === answers));
  for (const { name, fromEnvironment } of order) {
    const { problem, embeddingModel, connection } = fromEnvironment(settings, env);
    const model = wanted || settings.embeddingModel || embeddingModel;
    if (model && problem === undefined) return { model, vendor: { name, ...connection } };
  }
  return undefined;
}

/** With configured vendors: the named model, from the vendor that provides it. */
function vendorsEmbeddingRoute(
  providers: readonly ProviderDefinition[],
  settings: GlobalSettings,
  env: Environment,
  providerOf: (model: string) => Vendor | undefined,
  wanted: string | undefined,
): EmbeddingRoute | undefined {
  const [named] = embedders(providers).flatMap(
    ({ fromEnvironment }) => fromEnvironment(settings, env).embeddingModel ?? [],
  );
  const model = wanted || settings.embeddingModel || named;
  const vendor = model ? providerOf(model) : undefined;
  return model && vendor ? { model, vendor } : undefined;
}

/** Whether a pattern matches the whole name of a model. */
type NamePattern = (model: string) => boolean;

const WITHOUT_MEANING = /^[\w:@/-]+$/;
const LONGEST_NAME = 300;

/**
 * Compiles a vendor's `provides`. Patterns have RE2's syntax, and take linear time: look-around, back-references, and repetitions of more than 1,000 are
 * refused.
 * @throws CINNABAR_LLM_NOT_CONFIGURED with the vendor, the pattern and the problem
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

/** The only model that a pattern matches, if the pattern looks like a name: a dot then matches only itself. */
function plainName(pattern: string): string | undefined {
  const name = pattern.replaceAll('\\.', '.');
  return WITHOUT_MEANING.test(name.replaceAll('.', '')) ? name : undefined;
}
