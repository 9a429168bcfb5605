import { type Clock, costOf, type ErrorCode, type Metrics, type Usage } from '@cinnabar/sdk';
import type { Candidate } from './candidate.js';
import type { Breakers } from './circuit-breaker.js';

/** What monitoring shows of models. */
export interface ModelMetrics {
  /** One request to one model, its repetitions included. @param startedAt in milliseconds since the Unix epoch */
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
