import {
  type CheckResult,
  type Clock,
  costOf,
  type ErrorCode,
  type Metrics,
  operatorSentenceOf,
  t,
  translated,
  type Usage,
} from '@cinnabar/sdk';
import type { Candidate } from './attempt.js';
import type { Breakers } from './circuit-breaker.js';
import type { Router, Routes } from './routes.js';
import type { Environment, GlobalSettings } from './settings.js';
import type { Vendor } from './vendors.js';

/** The configuration as lines for the bot's owner. Never contains a key, and of an address only its host. */
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

/** The metrics of models. */
export interface ModelMetrics {
  /** Counts one request to one model, including its repetitions. @param startedAt in milliseconds since the Unix epoch */
  ended(candidate: Candidate, startedAt: number, end: { readonly usage: Usage } | { readonly code: ErrorCode }): void;
  embedded(model: string, tokens: number): void;
}

export function createModelMetrics(metrics: Metrics, breakers: Breakers, clock: Clock): ModelMetrics {
  const requests = metrics.counter({
    name: 'requests_total',
    help: 'Requests to models by outcome: done, or why not (timeout, unavailable, rate_limited, paused, …).',
    labels: ['model', 'outcome'],
  });
  const seconds = metrics.histogram({
    name: 'request_seconds',
    help: 'How long requests took that were answered, with their repetitions.',
    labels: ['model'],
    buckets: [0.5, 1, 2, 5, 10, 20, 60, 120],
  });
  const tokens = metrics.counter({
    name: 'tokens_total',
    help: 'Tokens by what they cost: input, output, cache_read, cache_write, embedding.',
    labels: ['model', 'kind'],
  });
  const cost = metrics.counter({
    name: 'cost_usd_total',
    help: 'US dollars, of models whose price is known.',
    labels: ['model'],
  });
  metrics.gauge({
    name: 'breaker_open',
    help: 'Whether the circuit breaker of a model keeps requests from it (1) or not (0).',
    labels: ['vendor', 'model'],
    read: () => breakers.list().map(({ vendor, model, breaker }) => [{ vendor, model }, breaker.isOpen ? 1 : 0]),
  });

  return {
    ended({ model, traits }, startedAt, end) {
      if ('code' in end) return requests.add({ model, outcome: end.code.replace(/^CINNABAR_LLM_/, '').toLowerCase() });
      const { usage } = end;
      requests.add({ model, outcome: 'done' });
      seconds.observe({ model }, (clock.now() - startedAt) / 1000);
      tokens.add({ model, kind: 'input' }, usage.inputTokens);
      tokens.add({ model, kind: 'output' }, usage.outputTokens);
      tokens.add({ model, kind: 'cache_read' }, usage.cacheReadTokens ?? 0);
      tokens.add({ model, kind: 'cache_write' }, usage.cacheCreationTokens ?? 0);
      if (traits.price !== undefined) cost.add({ model }, costOf(usage, traits.price));
    },
    embedded: (model, count) => tokens.add({ model, kind: 'embedding' }, count),
  };
}

/** For `doctor`: whether each source of models is set up, can be reached and accepts its key. Requests of lists of models are free of charge. */
export async function checkVendors(
  router: Router,
  settings: () => Promise<GlobalSettings>,
  env: Environment,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  try {
    const { vendors, model, vendorFor } = await router.routes(await settings(), env);
    const all = vendors.length === 0 ? [vendorFor(model)] : vendors;
    return Promise.all(all.map((vendor) => checkVendor(vendor, signal)));
  } catch (error) {
    const text = operatorSentenceOf(error);
    if (text === undefined) throw error;
    return [{ ok: false, text, remedy: t('Correct the setting or the variable that it names.') }];
  }
}

async function checkVendor(vendor: Vendor, signal: AbortSignal): Promise<CheckResult> {
  const { name, definition, listing } = vendor;
  if (listing === undefined) return { ok: true, text: t('{name} needs no check', { name }) };
  const { host } = new URL(listing.url);
  const key = definition.variables.key ?? '';
  const { state, detail } = await stateOf(vendor, signal);
  const found: Readonly<Record<typeof state, () => CheckResult>> = {
    answers: () => ({ ok: true, text: t('{name} at {host} answers, and accepts the key', { name, host }) }),
    refusesKey: () => ({
      ok: false,
      text: t('{name} at {host} does not accept the key', { name, host }),
      remedy: t('Put a valid key into {key}, or into the configuration of the vendor.', { key }),
    }),
    fails: () => ({
      ok: false,
      text: t('{name} at {host} answers with the error {status}', { name, host, status: detail }),
      remedy: t('Wait, or look at the status page of the provider.'),
    }),
    unreachable: () => ({
      ok: false,
      text: t('{name} at {host} cannot be reached ({reason})', { name, host, reason: detail }),
      remedy: t('Look at its address, and at the network of the machine.'),
    }),
  };
  return found[state]();
}

/** A vendor's state, and the status or reason when the response is not the expected one. */
async function stateOf(
  { listing }: Pick<Vendor, 'listing'>,
  signal: AbortSignal,
): Promise<{ readonly state: 'answers' | 'refusesKey' | 'fails' | 'unreachable'; readonly detail: string }> {
  if (listing === undefined) return { state: 'answers', detail: '' };
  try {
    const { status } = await fetch(listing.url, { headers: listing.headers, redirect: 'manual', signal });
    const detail = String(status);
    if (status === 401 || status === 403) return { state: 'refusesKey', detail };
    // A compatible server may lack a list of models.
    return { state: status >= 500 ? 'fails' : 'answers', detail };
  } catch (error) {
    return { state: 'unreachable', detail: reasonOf(error) };
  }
}

/** For `diagnose`, which members read: whether a model's vendor can be reached and accepts the key. Names no address. */
export async function vendorFinding(vendor: Vendor, model: string, signal: AbortSignal): Promise<CheckResult> {
  const { state } = await stateOf(vendor, signal);
  const values = { model, vendor: vendor.name };
  const remedy = t('The owner of the bot finds the reason with `doctor`.');
  if (state === 'refusesKey')
    return { ok: false, text: t('{vendor}, which has the model `{model}`, does not accept my key', values), remedy };
  if (state !== 'answers')
    return {
      ok: false,
      text: t('{vendor}, which has the model `{model}`, cannot be reached', values),
      remedy: t('Wait a moment. If the problem continues, the owner of the bot finds the reason with `doctor`.'),
    };
  return { ok: true, text: t('the model `{model}` of {vendor} can be asked', values) };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
