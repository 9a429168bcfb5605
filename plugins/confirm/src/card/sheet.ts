import type { CallCard } from '@cinnabar/sdk';

/** What a style draws: a call's card, how long a text may be, and lines that explain the card itself. */
export interface Sheet {
  readonly card: CallCard;
  /** In characters, for the sentence and for each value. */
  readonly longest: number;
  readonly notes: readonly string[];
}
