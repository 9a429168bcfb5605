/** A measured figure with its peer's, measured in the same run. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  /** `null` for a figure without a peer. */
  readonly peer: number | null;
  readonly peerName: string | null;
  /** ours / peer; for figures that are measured in rounds, the median of the rounds' ratios. */
  readonly ratio: number | null;
  /** The aim in words: "≤ 1.10× raw". */
  readonly aim: string;
  readonly met: boolean;
}

interface Comparison {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly peer: number;
  readonly peerName: string;
  /** Largest ratio that meets the aim; without it the figure is only reported. */
  readonly atMost?: number;
}

/** Figures that are measured in rounds: ours and the peer's of a round directly after each other. */
interface RoundsComparison extends Omit<Comparison, 'ours' | 'peer'> {
  readonly ours: readonly number[];
  readonly peer: readonly number[];
}

/** A figure whose aim is a ratio: the median of the rounds' ratios, which temporary load on the machine affects least. */
export function compareRounds({ ours, peer, ...rest }: RoundsComparison): Figure {
  const ratios = ours.map((value, round) => value / (peer[round] ?? Number.NaN));
  return figureOf({ ...rest, ours: median(ours), peer: median(peer) }, median(ratios));
}

/** A figure whose aim is a ratio. */
export function compare(comparison: Comparison): Figure {
  return figureOf(comparison, comparison.ours / comparison.peer);
}

function figureOf({ name, unit, ours, peer, peerName, atMost }: Comparison, ratio: number): Figure {
  return {
    name,
    unit,
    ours,
    peer,
    peerName,
    ratio,
    aim: atMost === undefined ? 'for comparison' : `≤ ${atMost}× ${peerName}`,
    met: atMost === undefined || ratio <= atMost,
  };
}

/** A share in percent that has to exceed its peer's by a number of percentage points. */
export function above(comparison: Omit<Comparison, 'atMost'>, points: number): Figure {
  const { ours, peer, peerName } = comparison;
  const aim = `≥ ${points} percentage points above ${peerName}`;
  return { ...compare(comparison), aim, met: ours - peer >= points };
}

/** A figure whose aim is an absolute maximum. */
export function limit(name: string, unit: string, ours: number, atMost: number): Figure {
  return { name, unit, ours, peer: null, peerName: null, ratio: null, aim: `≤ ${atMost} ${unit}`, met: ours <= atMost };
}

/** A figure whose aim is an absolute minimum. */
export function atLeast(name: string, unit: string, ours: number, least: number): Figure {
  return { name, unit, ours, peer: null, peerName: null, ratio: null, aim: `≥ ${least} ${unit}`, met: ours >= least };
}

/** A figure without a peer and an aim. */
export function found(name: string, unit: string, ours: number): Figure {
  return { name, unit, ours, peer: null, peerName: null, ratio: null, aim: 'none', met: true };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  const lower = sorted[sorted.length % 2 === 0 ? middle - 1 : middle];
  if (upper === undefined || lower === undefined) throw new RangeError('the median of nothing');
  return (upper + lower) / 2;
}

/** The value at a percentile. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)];
  if (value === undefined) throw new RangeError('a percentile of nothing');
  return value;
}

const digits = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));

/** One line per figure, as text. */
export function asLine(figure: Figure): string {
  const { name, unit, ours, peer, peerName, ratio, aim, met } = figure;
  const against =
    peer === null || ratio === null ? '' : `  ${peerName} ${digits(peer)} ${unit}  ratio ${ratio.toFixed(2)}×`;
  return `${met ? '✓' : '✗'} ${name}: ${digits(ours)} ${unit}${against}  (aim ${aim})`;
}
