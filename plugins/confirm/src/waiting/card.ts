import type { SettledOutcome, ToolCall } from '@cinnabar/sdk';
import type { Allowance } from '../session/allowance.js';

/** A card that is in a channel and waits for its requester. */
export interface WaitingCard {
  readonly callId: string;
  /** The only one who may decide. */
  readonly userId: string;
  readonly guildId: string | null;
  readonly channelId: string;
  readonly messageId: string;
  /** What is being asked, unescaped, for lists. */
  readonly sentence: string;
  /** What the message says; changes when buttons replace reactions. */
  content: string;
  hasButtons: boolean;
  /** Milliseconds since the epoch. Until then, inclusive, it may be decided. */
  readonly expiresAt: number;
  /** What happens on 👍 and 👎. */
  readonly request: Request;
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
