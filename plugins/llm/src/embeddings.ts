import { CinnabarError, type Embeddings, type UnmeteredLlm } from '@cinnabar/sdk';
import { boundsUntil, interrupted, within, withRetries } from './attempt.js';
import type { ServiceParts } from './llm.js';
import { unreadable } from './providers/errors.js';
import type { Attempt, Provider } from './providers/provider.js';
import { traitsOf } from './traits.js';

/** Texts to vectors: as many requests as the vendor's limit asks for, one after another, each bounded and repeated like a completion's. */
export function createEmbeddings(
  parts: Pick<ServiceParts, 'setup' | 'breakers' | 'metrics' | 'clock' | 'log' | 'signal'>,
): Pick<UnmeteredLlm, 'embed' | 'embeddingModel'> {
  const { breakers, clock } = parts;
  const routeFor = async (wanted: string | undefined) => {
    const setup = await parts.setup();
    const route = setup.routes.embeddings(wanted);
    const provider = route === undefined ? undefined : setup.providerFor(route.vendor);
    if (route === undefined || provider?.embed === undefined) return undefined;
    const { price } = traitsOf(route.vendor.definition, route.model, setup.settings.models);
    return { setup, provider, price, ...route };
  };
  const embeddingModel: UnmeteredLlm['embeddingModel'] = (wanted) => routeFor(wanted);
  const embed: UnmeteredLlm['embed'] = async (texts, options, onUse) => {
    const route = await routeFor(options.model);
    if (route === undefined) return undefined;
    const { setup, provider, vendor, model, price } = route;
    const { timeoutMs, retries, retryDelayMs, deadlineMs } = setup.settings;
    const signals = [parts.signal, ...(options.signal === undefined ? [] : [options.signal])];
    const log = parts.log.child({ provider: provider.name, model });
    const breaker = breakers.for(vendor, model);

    let all: Embeddings = { vectors: [], model, tokens: 0 };
    for (const batch of batchesOf(texts, provider.mostTexts)) {
      const deadlineAt = clock.now() + Math.max(deadlineMs, timeoutMs);
      const rules = { retries, retryDelayMs, deadlineAt, clock, signals, log };
      const attempt = await withRetries(rules, () =>
        breaker.run(async (): Promise<Attempt<Embeddings>> => {
          const bounds = boundsUntil(deadlineAt, { clock, timeoutMs, signals });
          const end = await within(bounds, (signal) => askFor(provider, { model, texts: batch, signal }));
          return end.done ? end.value : interrupted(end.why, bounds);
        }),
      );
      if (!attempt.ok) throw new CinnabarError(attempt.failure.code, attempt.failure.params);
      const { vectors, tokens, model: named } = attempt.reply;
      parts.metrics?.embedded(model, tokens);
      const usage = { inputTokens: tokens, outputTokens: 0 };
      onUse({ kind: 'embedding', model: named, provider: provider.name, usage, price });
      all = { vectors: [...all.vectors, ...vectors], model: named, tokens: all.tokens + tokens };
    }
    log.debug('texts embedded', { texts: texts.length, tokens: all.tokens });
    return all;
  };
  return { embed, embeddingModel };
}

async function askFor(
  provider: Provider,
  call: Parameters<NonNullable<Provider['embed']>>[0],
): Promise<Attempt<Embeddings>> {
  const attempt = await provider.embed?.(call);
  if (attempt === undefined) return { ok: false, failure: unreadable('it has no embeddings') };
  if (!attempt.ok) return attempt;
  const { vectors } = attempt.reply;
  const [first] = vectors;
  const isSound = vectors.every((vector) => vector.length === first?.length && vector.every(Number.isFinite));
  if (vectors.length === call.texts.length && isSound && first?.length !== 0) return attempt;
  return { ok: false, failure: unreadable('it is not one vector for each text') };
}

/** Vendors refuse empty texts: a blank one means as little. */
function batchesOf(texts: readonly string[], most = texts.length): readonly (readonly string[])[] {
  const sent = texts.map((text) => (text === '' ? ' ' : text));
  return Array.from({ length: Math.ceil(sent.length / Math.max(1, most)) }, (_, index) =>
    sent.slice(index * most, (index + 1) * most),
  );
}
