import { operatorSentenceOf } from '@cinnabar/sdk';
import type { Breakers } from './circuit-breaker.js';
import type { Environment, GlobalSettings } from './settings.js';
import type { Router, Routes } from './vendors/routes.js';
import type { Source, Vendor } from './vendors/source.js';

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
  const { source, name } = routes.vendorFor(routes.model);
  const several = routes.vendors.length > 1 || name !== source.provider;
  const lines = [
    `**Provider:** ${several ? `${name} (${source.provider}; ${routes.because})` : `${source.provider} (${routes.because})`}`,
    `**Model:** ${routes.model}`,
  ];
  if (source.provider === 'offline') {
    return [...lines, 'Set `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, or a base URL, to connect a language model.'].join(
      '\n',
    );
  }
  return [
    ...lines,
    ...(several
      ? routes.vendors.map(
          (vendor) =>
            `**${vendor.name}** (${patternList(vendor.provides)}): ${place(vendor)}; ${breakers.stateOf(vendor)}`,
        )
      : singleVendor(source, breakers.stateOf({ name, source }))),
    `**Embeddings:** ${embeddings(routes)}`,
    `**Each attempt:** up to ${timeoutMs / 1000} s${stream ? ', streamed' : ''}; ${retries} more after ${retryDelayMs / 1000} s, ${Math.max(deadlineMs, timeoutMs) / 1000} s in all`,
  ].join('\n');
}

function embeddings(routes: Routes): string {
  const route = routes.embeddings();
  if (route === undefined) return 'none: set `embeddingModel` or `OPENAI_EMBEDDING_MODEL` for search by meaning';
  return `${route.model} by ${route.vendor.name}`;
}

type Connected = Exclude<Source, { readonly provider: 'offline' }>;

function singleVendor(source: Connected, state: string): readonly string[] {
  return [
    ...(source.provider === 'openai' ? [`**API:** ${source.api}`] : []),
    ...(source.provider === 'bedrock' ? [`**Region:** ${source.region}`] : []),
    `**Server:** ${new URL(source.baseUrl).host} (${state})`,
    `**Key:** ${hasKey(source) ? 'set' : 'not set'}`,
  ];
}

function place({ source }: Vendor): string {
  if (source.provider === 'offline') return 'here';
  return `${source.provider} at ${new URL(source.baseUrl).host}, key ${hasKey(source) ? 'set' : 'not set'}`;
}

function hasKey(source: Connected): boolean {
  return (source.provider === 'bedrock' ? source.credentials : source.key) !== undefined;
}

function patternList(patterns: readonly string[]): string {
  return patterns.map((pattern) => `\`${pattern.replaceAll('`', '')}\``).join(', ');
}
