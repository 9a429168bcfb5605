import type { Actor, Decision } from '@cinnabar/sdk';
import type { BotConfig } from '../config/schema.js';
import type { Receipt } from './receipt.js';

export type { Receipt };

/** What something uses, or may use at most. */
export interface Amount {
  readonly tokens: number;
  /** US dollars; `null` when a price is not known. */
  readonly usd: number | null;
}

export type BudgetConfig = Pick<BotConfig, 'budgets'>;

/** Room in the budgets that is held for one reply. */
export interface Reservation {
  /** When it does not allow the reply, nothing is held. */
  readonly decision: Decision;
  /** Gives the room back: the reply has been recorded, or there is none. A second call does nothing. */
  release(): Promise<void>;
}

export interface Accounts {
  /** Whether a budget of guild, channel or member is used up; the reasons say when it starts anew. */
  check(place: Actor, config: BudgetConfig): Promise<Decision>;
  /**
   * The same, and holds room for one reply until it is released: of replies that run at the same time at most one can exceed a budget.
   * A hold that nobody releases ends by itself.
   * @param most what the reply can use at most
   */
  reserve(place: Actor, config: BudgetConfig, most: Amount): Promise<Reservation>;
  /** Adds a reply to the sums of its day (UTC) and keeps its receipt. */
  record(receipt: Receipt): Promise<void>;
}
