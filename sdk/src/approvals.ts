import { defineToken } from './token.js';

/** What somebody has allowed for the rest of a task: calls that fit go through without being asked about. */
export interface Approval {
  readonly id: string;
  readonly tool: string;
  /** What is allowed, for people, plain text: `send_message where channel is "news"`, `roll_dice with any arguments`. */
  readonly pattern: string;
  /** Who allowed it. */
  readonly byUserId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What people have allowed for tasks (`ToolSession`). Provided by `confirm`; kept over restarts. */
export interface Approvals {
  /** What holds for a session, the oldest first. */
  list(sessionId: string): Promise<readonly Approval[]>;
  /** Takes one back: later calls are asked about again. `false` when there is none of that id. */
  revoke(sessionId: string, approvalId: string): Promise<boolean>;
  /** Takes all back: the task is over. More than once does no harm. */
  end(sessionId: string): Promise<void>;
}
export const Approvals = defineToken<Approvals>('cinnabar.approvals');
