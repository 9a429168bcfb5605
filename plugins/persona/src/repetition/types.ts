/** An action that was carried out in this turn. */
export interface PastAction {
  readonly action: string;
  /** What the planner wanted it to look at. */
  readonly context?: string | undefined;
  /** What came of it. */
  readonly result?: string | undefined;
}

export interface RepetitionInput {
  /** Of this turn, oldest first; the last five count. */
  readonly completed: readonly PastAction[];
  /** What is to come. `text` is there once an action that speaks has its words: before they are sent. */
  readonly proposed: {
    readonly action: string;
    readonly context?: string | undefined;
    readonly text?: string | undefined;
  };
  /** What the turn answers; empty when nobody said anything. */
  readonly trigger: string;
  /** What the persona said in this run, and lately to the person it answers; oldest first, the last twenty count. */
  readonly said: readonly string[];
}

/**
 * `exact`: the same words; `paraphrase`: the same in other words or order; `template`: the same sentence with other words in its slots;
 * `loop`: the same action for the same purpose, or actions going round in a circle.
 */
export type RepetitionKind = 'exact' | 'paraphrase' | 'template' | 'loop';

export interface RepetitionPattern {
  readonly kind: RepetitionKind;
  /** For the event and the log: "says again: …". */
  readonly sentence: string;
  /** What it repeats. */
  readonly earlier: string;
}

export interface RepetitionAnalysis {
  readonly shouldStop: boolean;
  /** Also there when it was seen but is allowed, because it was asked for. */
  readonly pattern: RepetitionPattern | null;
}

/** Pure, and bounded in time whatever the texts are. */
export type AnalyseRepetition = (input: RepetitionInput) => RepetitionAnalysis;
