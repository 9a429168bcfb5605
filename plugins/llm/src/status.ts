import { operatorSentenceOf, t, translated } from '@cinnabar/sdk';
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
    t('**Provider:** {provider}', {
      provider: several
        ? `${name} (${definition.name}; ${routes.because()})`
        : `${definition.name} (${routes.because()})`,
    }),
    t('**Model:** {model}', { model: routes.model }),
  ];
  if (definition.statusNote !== undefined) return [...lines, translated(definition.statusNote)].join('\n');
  return [
    ...lines,
    ...(several
      ? routes.vendors.map(
          (one) =>
            `**${one.name}** (${patternList(one.provides)}): ${place(one)}; ${translated(breakers.stateOf(one))}`,
        )
      : singleVendor(vendor, translated(breakers.stateOf(vendor)))),
    t('**Embeddings:** {embeddings}', { embeddings: embeddings(routes) }),
    t(
      '**Each attempt:** up to {timeout} s{stream, select, yes {, streamed} other {}}; {retries} more after {pause} s, {all} s in all',
      {
        timeout: timeoutMs / 1000,
        stream: stream ? 'yes' : 'no',
        retries,
        pause: retryDelayMs / 1000,
        all: Math.max(deadlineMs, timeoutMs) / 1000,
      },
    ),
  ].join('\n');
}

function embeddings(routes: Routes): string {
  const route = routes.embeddings();
  if (route === undefined) return t('none: set `embeddingModel` or `OPENAI_EMBEDDING_MODEL` for search by meaning');
  return t('{model} by {vendor}', { model: route.model, vendor: route.vendor.name });
}

function singleVendor(vendor: Vendor, state: string): readonly string[] {
  return [
    ...vendor.details.map(([name, value]) => `**${name}:** ${value}`),
    t('**Server:** {server} ({state})', { server: hostOf(vendor), state }),
    vendor.hasKey ? t('**Key:** set') : t('**Key:** not set'),
  ];
}

function place(vendor: Vendor): string {
  const values = { provider: vendor.definition.name, server: hostOf(vendor) };
  return vendor.hasKey
    ? t('{provider} at {server}, key set', values)
    : t('{provider} at {server}, key not set', values);
}

function hostOf({ source }: Vendor): string {
  return source.baseUrl === undefined ? t('this process') : new URL(source.baseUrl).host;
}

function patternList(patterns: readonly string[]): string {
  return patterns.map((pattern) => `\`${pattern.replaceAll('`', '')}\``).join(', ');
}
