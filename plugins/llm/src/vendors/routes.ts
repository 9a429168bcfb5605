import type { Environment, GlobalSettings } from '../settings.js';
import { configuredVendor } from './configured.js';
import { type EmbeddingRoute, embeddingRoute, vendorsEmbeddingRoute } from './embeddings.js';
import { type NamePattern, plainName, readPatterns } from './patterns.js';
import { configure, notConfigured } from './single.js';
import type { Vendor } from './source.js';

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
