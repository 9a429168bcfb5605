import { defineToken } from './token.js';

/** What was decided about a message, for `!why`. */
export interface MessageDecision {
  /** A sentence for its author: what was decided, and what helps. */
  readonly text: string;
}

/** What was decided about recent messages, in memory: the latest thousand of which there is something to say. Provided by the host. */
export interface MessageDecisions {
  note(messageId: string, decision: MessageDecision): void;
  /** In the order in which it was decided; empty for a message of which nothing was noted. */
  of(messageId: string): readonly MessageDecision[];
}
export const MessageDecisions = defineToken<MessageDecisions>('cinnabar.message-decisions');
