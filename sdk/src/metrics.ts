/** A value for each label. Values come from a small set: never ids of guilds, channels, members or messages. */
export type MetricLabels<L extends string> = Readonly<Record<L, string>>;

export interface MetricDefinition<L extends string> {
  /**
   * Lower case letters, digits and `_`, with the unit in it and, for a counter, `_total` at its end. It is published after the plugin's id:
   * `deliveries_total` of `relay` is `cinnabar_relay_deliveries_total`.
   * https://prometheus.io/docs/practices/naming/
   */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  readonly labels?: readonly L[];
}

export interface CounterDefinition<L extends string> extends MetricDefinition<L> {}

export interface HistogramDefinition<L extends string> extends MetricDefinition<L> {
  /** Upper bounds, rising: `[0.1, 1, 10]`. */
  readonly buckets: readonly number[];
}

/** A gauge's value for one set of labels. */
export type MetricReading<L extends string> = readonly [labels: MetricLabels<L>, value: number];

export interface GaugeDefinition<L extends string> extends MetricDefinition<L> {
  /** Asked each time when metrics are read, and never otherwise: it answers from memory. */
  readonly read: () => number | Iterable<MetricReading<L>>;
}

export interface Counter<L extends string> {
  /** @param by 1 when left out; never negative */
  add(labels: MetricLabels<L>, by?: number): void;
}

export interface Histogram<L extends string> {
  observe(labels: MetricLabels<L>, value: number): void;
}

/**
 * Metrics of one plugin, taken back when it stops. While the owner has not switched monitoring on, each call costs next to nothing.
 * Of one metric at most 200 sets of labels are kept apart; further ones, and values that look like ids of Discord, are counted as `other`.
 * @example
 * const rolls = metrics.counter({ name: 'rolls_total', help: 'Dice that were rolled.', labels: ['sides'] });
 * rolls.add({ sides: '20' });
 * metrics.gauge({ name: 'queue_length', help: 'Rolls that wait.', read: () => queue.length });
 */
export interface Metrics {
  /** @throws CinnabarError CINNABAR_NAME_INVALID, CINNABAR_NAME_TAKEN; so do the others */
  counter<const L extends string = never>(definition: CounterDefinition<L>): Counter<L>;
  gauge<const L extends string = never>(definition: GaugeDefinition<L>): void;
  histogram<const L extends string = never>(definition: HistogramDefinition<L>): Histogram<L>;
}
