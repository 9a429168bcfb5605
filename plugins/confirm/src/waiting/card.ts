import type { SettledOutcome, ToolCall } from '@cinnabar/sdk';
import type { CardState, Face } from '../asking/face.js';
import type { Allowance } from '../session/allowance.js';

/** A card that is in a channel and waits for its requester. */
export interface WaitingCard {
  /** The first call's: the card's record goes by it. */
  readonly callId: string;
  /** The only one who may decide. */
  readonly userId: string;
  readonly guildId: string | null;
  readonly channelId: string;
  readonly messageId: string;
  /** What is being asked, unescaped, for lists. */
  readonly sentence: string;
  /** What its message says, and what it is decided with, in a state. */
  draw(state: CardState): Face;
  state: CardState;
  /** Resolves when the latest change of its message is there, or has failed. */
  drawn: Promise<unknown>;
  /** Milliseconds since the epoch. Until then, inclusive, it may be decided. */
  readonly expiresAt: number;
  /** What happens on 👍 and 👎. */
  readonly request: Request;
  /** Further calls of the same step that are decided with it, in the order in which they run. */
  readonly others: readonly Request[];
}

export interface Request {
  readonly call: ToolCall;
  /** What may be allowed beside this one call. */
  readonly allowance: Allowance;
  /** Runs the call; does so only once it is approved. */
  run(): Promise<SettledOutcome>;
  /** Tells whoever waits for the outcome. */
  settle(outcome: SettledOutcome): void;
}

/** The calls of a card, in the order in which they run. */
export function requestsOf({ request, others }: Pick<WaitingCard, 'request' | 'others'>): readonly Request[] {
  return [request, ...others];
}
