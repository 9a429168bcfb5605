import { operatorSentenceOf } from '@cinnabar/sdk';
import type { Breakers } from './circuit-breaker.js';
import type { Router, Routes } from './routes.js';
import type { Environment, GlobalSettings } from './settings.js';
import type { Vendor } from './vendors.js';

/** The configuration in lines for the bot's owner. Never shows a key, nor more of an address than its host. */
export async function describeStatus(
  router: Router,
  breakers: Breakers,
  settings: GlobalSettings,
  env: Environment,
): Promise<string> {
  try {
    return describe(await router.routes(settings, env), breakers, settings);
  } catch (error) {
    const sentence = operatorSentenceOf(error);
    if (sentence === undefined) throw error;
    return `⚠️ ${sentence}`;
  }
}

function describe(
  routes: Routes,
  breakers: Breakers,
  { timeoutMs, retries, retryDelayMs, deadlineMs, stream }: GlobalSettings,
): string {
  const vendor = routes.vendorFor(routes.model);
  const { definition, name } = vendor;
  const several = routes.vendors.length > 1 || name !== definition.name;
  const lines = [
    `**Provider:** ${several ? `${name} (${definition.name}; ${routes.because})` : `${definition.name} (${routes.because})`}`,
    `**Model:** ${routes.model}`,
  ];
  if (definition.statusNote !== undefined) return [...lines, definition.statusNote].join('\n');
  return [
    ...lines,
    ...(several
      ? routes.vendors.map(
          (one) => `**${one.name}** (${patternList(one.provides)}): ${place(one)}; ${breakers.stateOf(one)}`,
        )
      : singleVendor(vendor, breakers.stateOf(vendor))),
    `**Embeddings:** ${embeddings(routes)}`,
    `**Each attempt:** up to ${timeoutMs / 1000} s${stream ? ', streamed' : ''}; ${retries} more after ${retryDelayMs / 1000} s, ${Math.max(deadlineMs, timeoutMs) / 1000} s in all`,
  ].join('\n');
}

function embeddings(routes: Routes): string {
  const route = routes.embeddings();
  if (route === undefined) return 'none: set `embeddingModel` or `OPENAI_EMBEDDING_MODEL` for search by meaning';
  return `${route.model} by ${route.vendor.name}`;
}

function singleVendor(vendor: Vendor, state: string): readonly string[] {
  return [
    ...vendor.details.map(([name, value]) => `**${name}:** ${value}`),
    `**Server:** ${hostOf(vendor)} (${state})`,
    `**Key:** ${vendor.hasKey ? 'set' : 'not set'}`,
  ];
}

function place(vendor: Vendor): string {
  return `${vendor.definition.name} at ${hostOf(vendor)}, key ${vendor.hasKey ? 'set' : 'not set'}`;
}

function hostOf({ source }: Vendor): string {
  return source.baseUrl === undefined ? 'this process' : new URL(source.baseUrl).host;
}

function patternList(patterns: readonly string[]): string {
  return patterns.map((pattern) => `\`${pattern.replaceAll('`', '')}\``).join(', ');
}
