import type { Metrics } from '@cinnabar/sdk';
import type { Breakers } from './queue/breakers.js';
import type { RelayQueue } from './types.js';

/** Declares what monitoring shows of the relay. */
export function publishMetrics(metrics: Metrics, queue: Pick<RelayQueue, 'totals'>, breakers: Breakers): void {
  metrics.gauge({
    name: 'queue_events',
    help: 'Events that agents have not been told of yet, those on their way included.',
    read: () => queue.totals().events,
  });
  metrics.gauge({
    name: 'queue_sending',
    help: 'Channels whose agent is at work.',
    read: () => queue.totals().sending,
  });
  metrics.gauge({
    name: 'breaker_open',
    help: 'Whether the circuit breaker of an agent keeps prompts from it (1) or not (0).',
    labels: ['agent'],
    read: () => breakers.list().map(([agent, { state }]) => [{ agent }, state === 'answers' ? 0 : 1]),
  });
}
